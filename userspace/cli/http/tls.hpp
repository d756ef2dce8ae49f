// SPDX-License-Identifier: GPL-2.0-or-later
// The certificate of uncore serve with its key, and the authorities of its
// clients' certificates: files that may change while the server runs.
// libmicrohttpd asks for them at each handshake.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <uncore/error.hpp>

namespace cli {

/// Files in PEM.
struct tls_files {
	/// The certificate may have a chain; both are empty for plain HTTP.
	std::string certificate, key;
	/// Authorities of clients' certificates; empty where none are asked
	/// for.
	std::string client_ca;
};

/// The files of a server that runs.
class tls_watch {
public:
	explicit tls_watch(tls_files files) : files_(std::move(files)) {}

	/// Does the server speak TLS?
	bool secure() const { return !files_.certificate.empty(); }
	/// Errors: errc::system, errc::invalid; both name the file.
	uncore::result<void> load();
	/// Read the files again if one of them has changed, or if @p always.
	/// Files that cannot be used are logged once and change nothing;
	/// handshakes that have begun keep the certificate that they had.
	void reload(bool always);

private:
	std::string state_of_files() const;

	tls_files files_;
	std::string seen_; ///< state of the files that were read
	std::chrono::steady_clock::time_point checked_{};
};

/// What MHD_OPTION_HTTPS_CERT_CALLBACK wants: a
/// gnutls_certificate_retrieve_function2.
void *identity_callback();

} // namespace cli
