// SPDX-License-Identifier: GPL-2.0-or-later
// Certificates of uncore serve: its own with the key, and the authorities of
// its clients'.  libmicrohttpd asks for them at each handshake.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <uncore/error.hpp>

namespace cli {

/// What clients have to show, as Go's crypto/tls and exporter-toolkit call it.
enum class client_auth {
	none,		  ///< NoClientCert
	request,	  ///< RequestClientCert
	require_any,	  ///< RequireAnyClientCert
	verify_if_given,  ///< VerifyClientCertIfGiven
	require_verified, ///< RequireAndVerifyClientCert
};

struct tls_files {
	/// PEM; the certificate may have a chain.
	std::string certificate, key;
	/// Authorities of client certificates; empty where none is verified.
	std::string client_ca;
	client_auth clients = client_auth::none;
	/// Where not empty: a client's certificate has one of these as a
	/// subject alternative name.
	std::vector<std::string> client_names = {};
};

/// Certificates that were read and that fit together.
struct tls_identity;

/// Errors: errc::system, errc::invalid; both name the file.
uncore::result<std::shared_ptr<const tls_identity>>
load_identity(const tls_files &files);

/// What handshakes use from now on.  Those that have begun keep what they
/// had.
void use_identity(std::shared_ptr<const tls_identity> identity);

/// What MHD_OPTION_HTTPS_CERT_CALLBACK wants: a
/// gnutls_certificate_retrieve_function2.
void *identity_callback();

} // namespace cli
