// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/tls.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <vector>

#include <sys/stat.h>

#include <fmt/format.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "output/message.hpp"

namespace cli {

using clock = std::chrono::steady_clock;
using uncore::errc;

namespace {

/// Limit of the certificates in a chain.
constexpr unsigned most_certificates = 16;
/// Time for which a replaced certificate is kept, as handshakes may still use it: longer
/// than any handshake takes.
constexpr std::chrono::seconds handshake_time{60};
/// Shortest time between two checks of the files for a change.
constexpr std::chrono::seconds check_time{1};

uncore::result<std::string> read_pem(const std::string &path,
				     const char *content)
{
	std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path.c_str(), "re"),
						    fclose);
	std::string text;
	char part[4096];

	if (!file)
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", path, strerror(errno))};
	while (size_t n = fread(part, 1, sizeof(part), file.get()))
		text.append(part, n);
	if (ferror(file.get()))
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", path, strerror(errno))};
	if (text.empty())
		return uncore::error{
			errc::invalid,
			fmt::format(
				"{}: the file is empty (expected a {} in PEM)",
				path, content)};
	return text;
}

gnutls_datum_t datum_of(const std::string &text)
{
	return {reinterpret_cast<unsigned char *>(
			const_cast<char *>(text.data())),
		unsigned(text.size())};
}

uncore::error unusable(const std::string &path, const char *content, int code)
{
	return {errc::invalid, fmt::format("{}: no usable {} in PEM: {}", path,
					   content, gnutls_strerror(code))};
}

/// A certificate with its key, and the authorities.
struct tls_identity {
	std::vector<gnutls_pcert_st> chain;
	gnutls_privkey_t key = nullptr;
	gnutls_x509_trust_list_t authorities = nullptr;

	tls_identity() = default;
	tls_identity(const tls_identity &) = delete;
	tls_identity &operator=(const tls_identity &) = delete;
	~tls_identity();
	uncore::result<void> load(const tls_files &files);
	bool matches() const;
	bool trusts(gnutls_session_t session) const;
};

tls_identity::~tls_identity()
{
	for (gnutls_pcert_st &certificate : chain)
		gnutls_pcert_deinit(&certificate);
	if (key)
		gnutls_privkey_deinit(key);
	if (authorities)
		gnutls_x509_trust_list_deinit(authorities, 1);
}

uncore::result<void> tls_identity::load(const tls_files &files)
{
	const auto certificate = read_pem(files.certificate, "certificate");
	const auto key_pem = read_pem(files.key, "key");
	unsigned count = most_certificates;

	if (!certificate)
		return certificate.error();
	if (!key_pem)
		return key_pem.error();

	const gnutls_datum_t certificate_text = datum_of(*certificate);
	const gnutls_datum_t key_text = datum_of(*key_pem);

	chain.resize(count);
	if (int err = gnutls_pcert_list_import_x509_raw(
		    chain.data(), &count, &certificate_text,
		    GNUTLS_X509_FMT_PEM, 0)) {
		chain.clear();
		return unusable(files.certificate, "certificate", err);
	}
	chain.resize(count);
	gnutls_privkey_init(&key);
	if (int err = gnutls_privkey_import_x509_raw(
		    key, &key_text, GNUTLS_X509_FMT_PEM, nullptr, 0))
		return unusable(files.key, "key", err);
	if (!matches())
		return uncore::error{
			errc::invalid,
			fmt::format("{}: not the key of the certificate in {}",
				    files.key, files.certificate)};
	if (files.client_ca.empty())
		return {};

	const auto trusted = read_pem(files.client_ca, "certificate");

	if (!trusted)
		return trusted.error();

	const gnutls_datum_t trusted_text = datum_of(*trusted);

	gnutls_x509_trust_list_init(&authorities, 0);

	const int added = gnutls_x509_trust_list_add_trust_mem(
		authorities, &trusted_text, nullptr, GNUTLS_X509_FMT_PEM, 0, 0);

	if (added <= 0)
		return unusable(files.client_ca, "certificate", added);
	return {};
}

/// Check that the key belongs to the first certificate.
bool tls_identity::matches() const
{
	unsigned char ids[2][64];
	size_t sizes[2] = {sizeof(ids[0]), sizeof(ids[1])};
	gnutls_pubkey_t public_key;

	if (chain.empty() || gnutls_pubkey_init(&public_key))
		return false;

	const bool read =
		!gnutls_pubkey_import_privkey(public_key, key, 0, 0) &&
		!gnutls_pubkey_get_key_id(public_key, GNUTLS_KEYID_USE_SHA256,
					  ids[0], &sizes[0]) &&
		!gnutls_pubkey_get_key_id(chain.front().pubkey,
					  GNUTLS_KEYID_USE_SHA256, ids[1],
					  &sizes[1]);

	gnutls_pubkey_deinit(public_key);
	return read && sizes[0] == sizes[1] &&
	       !std::memcmp(ids[0], ids[1], sizes[0]);
}

/// Check that an authority has signed the certificate of the client.
bool tls_identity::trusts(gnutls_session_t session) const
{
	unsigned count = 0, status = 0;
	const gnutls_datum_t *presented =
		gnutls_certificate_get_peers(session, &count);
	std::vector<gnutls_x509_crt_t> certificates;
	bool good = presented && count && count <= most_certificates;

	for (unsigned i = 0; i < count && good; i++) {
		gnutls_x509_crt_t certificate;

		good = !gnutls_x509_crt_init(&certificate);
		if (!good)
			break;
		certificates.push_back(certificate);
		good = !gnutls_x509_crt_import(certificate, &presented[i],
					       GNUTLS_X509_FMT_DER);
	}
	if (good) {
		char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
		gnutls_typed_vdata_st required = {
			GNUTLS_DT_KEY_PURPOSE_OID,
			reinterpret_cast<unsigned char *>(purpose), 0};

		good = !gnutls_x509_trust_list_verify_crt2(
			       authorities, certificates.data(), count,
			       &required, 1, 0, &status, nullptr) &&
		       !status;
	}
	for (gnutls_x509_crt_t certificate : certificates)
		gnutls_x509_crt_deinit(certificate);
	return good;
}

uncore::result<std::shared_ptr<const tls_identity>>
load_identity(const tls_files &files)
{
	auto identity = std::make_shared<tls_identity>();

	if (auto loaded = identity->load(files); !loaded)
		return loaded.error();
	return std::shared_ptr<const tls_identity>(std::move(identity));
}

/// The identity in use.  A global variable, as the library passes no argument with which
/// its callback could find the server.
std::shared_ptr<const tls_identity> current;

/// Replaced identity that handshakes may still use.
struct retired {
	std::shared_ptr<const tls_identity> identity;
	clock::time_point since;
};
std::list<retired> retired_identities;

int verify_client(gnutls_session_t session)
{
	const auto identity = current;

	return identity && identity->trusts(session) ? 0 : -1;
}

int retrieve(gnutls_session_t session, const gnutls_datum_t *, int,
	     const gnutls_pk_algorithm_t *, int, gnutls_pcert_st **chain,
	     unsigned *count, gnutls_privkey_t *key)
{
	if (!current)
		return -1;
	*chain = const_cast<gnutls_pcert_st *>(current->chain.data());
	*count = unsigned(current->chain.size());
	*key = current->key;
	if (!current->authorities)
		return 0;
	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_function(session, verify_client);
	return 0;
}

/// Use an identity for all handshakes from now on.
void use_identity(std::shared_ptr<const tls_identity> identity)
{
	const auto now = clock::now();

	std::erase_if(retired_identities, [now](const retired &entry) {
		return now - entry.since > handshake_time;
	});
	if (current)
		retired_identities.push_back({std::move(current), now});
	current = std::move(identity);
}

} // namespace

/// Return a text that changes with the files: device, inode, size and time.
std::string tls_watch::state_of_files() const
{
	std::string state;

	for (const std::string &path :
	     {files_.certificate, files_.key, files_.client_ca}) {
		struct stat status {};

		stat(path.c_str(), &status);
		fmt::format_to(std::back_inserter(state), "{} {} {} {} {} ",
			       uint64_t(status.st_dev), uint64_t(status.st_ino),
			       status.st_size, status.st_mtim.tv_sec,
			       status.st_mtim.tv_nsec);
	}
	return state;
}

uncore::result<void> tls_watch::load()
{
	if (!secure())
		return {};
	seen_ = state_of_files();

	auto identity = load_identity(files_);

	if (!identity)
		return identity.error();
	use_identity(*std::move(identity));
	return {};
}

void tls_watch::reload(bool always)
{
	const auto now = clock::now();

	if (!secure() || (!always && now - checked_ < check_time))
		return;
	checked_ = now;
	if (!always && state_of_files() == seen_)
		return;
	if (const auto loaded = load(); !loaded)
		note(fmt::format(
			"{}; the certificate that was loaded before stays",
			loaded.error().message));
	else
		note("certificates are loaded again");
}

void *identity_callback()
{
	return reinterpret_cast<void *>(&retrieve);
}

} // namespace cli
