// SPDX-License-Identifier: GPL-2.0-or-later
// The TLS files of uncore serve: its certificate and key, and the certificates of the
// authorities that sign clients' certificates.  The files may change while the server
// runs.  At each TLS handshake libmicrohttpd calls a function that returns the current
// certificate.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <uncore/error.hpp>

namespace cli {

/// Files in PEM.
struct tls_files {
	/// Certificate, which may have a chain, and key; empty for plain HTTP.
	std::string certificate, key;
	/// Authorities of clients' certificates; empty if clients need no
	/// certificate.
	std::string client_ca;
};

/// Loads the files, and again when they change.
class tls_watch {
public:
	explicit tls_watch(tls_files files) : files_(std::move(files)) {}

	/// Tell whether the server uses TLS.
	bool secure() const { return !files_.certificate.empty(); }
	/// Load the files.  Errors: errc::system, errc::invalid; both name the
	/// file.
	uncore::result<void> load();
	/// Read the files again if a file has changed, or if @p always.
	/// Unusable files are logged once and change nothing; handshakes in
	/// progress keep their certificate.
	void reload(bool always);

private:
	std::string state_of_files() const;

	tls_files files_;
	std::string seen_; ///< state of the files that were read
	std::chrono::steady_clock::time_point checked_{};
};

/// Return the gnutls_certificate_retrieve_function2 for
/// MHD_OPTION_HTTPS_CERT_CALLBACK.
void *identity_callback();

} // namespace cli
