// SPDX-License-Identifier: GPL-2.0-or-later
// https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md
#include "http/web_config.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <sys/stat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "output/message.hpp"

namespace cli {

using uncore::errc;

namespace {

/// How often files are looked at.
constexpr std::chrono::seconds look_time{1};
/// A password's check takes 2^cost rounds: 15 is about a second.
constexpr int most_cost = 15;

/// What is wrong with the file.
struct malformed {
	std::string what;
};

/// Takes keys off a mapping: those that are left are unknown.
class section {
public:
	section(const YAML::Node &of, std::string name) : name_(std::move(name))
	{
		if (!of || of.IsNull())
			return;
		if (!of.IsMap())
			throw malformed{
				fmt::format("{}: expected a mapping", name_)};
		for (const auto &one : of)
			if (!all_.emplace(one.first.as<std::string>(),
					  one.second)
				     .second)
				throw malformed{fmt::format(
					"{}: given twice",
					path(one.first.as<std::string>()))};
	}

	YAML::Node take(const std::string &key)
	{
		const auto found = all_.find(key);

		if (found == all_.end())
			return YAML::Node(YAML::NodeType::Undefined);

		const YAML::Node its = found->second;

		all_.erase(found);
		return its;
	}
	std::string text(const std::string &key)
	{
		const YAML::Node its = take(key);

		if (!its.IsDefined() || its.IsNull())
			return "";
		if (!its.IsScalar())
			throw malformed{fmt::format("{}: expected a string",
						    path(key))};
		return its.Scalar();
	}
	std::vector<std::string> list(const std::string &key)
	{
		const YAML::Node its = take(key);
		std::vector<std::string> all;

		if (!its.IsDefined() || its.IsNull())
			return all;
		if (!its.IsSequence())
			throw malformed{
				fmt::format("{}: expected a list", path(key))};
		for (const auto &one : its)
			all.push_back(one.as<std::string>());
		return all;
	}
	std::map<std::string, std::string> texts() const
	{
		std::map<std::string, std::string> all;

		for (const auto &[key, its] : all_) {
			if (!its.IsScalar())
				throw malformed{fmt::format(
					"{}: expected a string", path(key))};
			all[key] = its.Scalar();
		}
		return all;
	}
	/// Says that it cannot be obeyed rather than that it is wrong.
	void refuse(const std::string &key, const char *why)
	{
		const YAML::Node its = take(key);

		if (its.IsDefined() && !its.IsNull() &&
		    !(its.IsSequence() && !its.size()))
			throw malformed{fmt::format("{}: {}", path(key), why)};
	}
	void end() const
	{
		if (!all_.empty())
			throw malformed{fmt::format("{}: unknown key",
						    path(all_.begin()->first))};
	}

private:
	std::string path(const std::string &key) const
	{
		return name_.empty() ? key : name_ + "." + key;
	}

	std::string name_;
	std::map<std::string, YAML::Node> all_;
};

client_auth client_auth_of(const std::string &text)
{
	static const std::map<std::string, client_auth> known = {
		{"", client_auth::none},
		{"NoClientCert", client_auth::none},
		{"RequestClientCert", client_auth::request},
		{"RequireAnyClientCert", client_auth::require_any},
		{"RequireAnyClientCertificate", client_auth::require_any},
		{"VerifyClientCertIfGiven", client_auth::verify_if_given},
		{"RequireAndVerifyClientCert", client_auth::require_verified},
	};
	const auto found = known.find(text);

	if (found == known.end())
		throw malformed{fmt::format(
			"tls_server_config.client_auth_type: {}: expected "
			"NoClientCert, RequestClientCert, "
			"RequireAnyClientCert, VerifyClientCertIfGiven or "
			"RequireAndVerifyClientCert",
			text)};
	return found->second;
}

/// @p path of a configuration file that is in @p folder.
std::string in_folder(const std::filesystem::path &folder, std::string path)
{
	return path.empty() ? path : (folder / path).string();
}

tls_files tls_files_of(section &tls, const std::filesystem::path &folder)
{
	tls_files files;

	files.certificate = in_folder(folder, tls.text("cert_file"));
	files.key = in_folder(folder, tls.text("key_file"));
	files.client_ca = in_folder(folder, tls.text("client_ca_file"));
	files.clients = client_auth_of(tls.text("client_auth_type"));
	files.client_names = tls.list("client_allowed_sans");
	if (files.certificate.empty() || files.key.empty())
		throw malformed{"tls_server_config: cert_file and key_file are "
				"both needed"};

	const bool verifies = files.clients == client_auth::verify_if_given ||
			      files.clients == client_auth::require_verified;

	if (verifies && files.client_ca.empty())
		throw malformed{"tls_server_config: client_auth_type needs "
				"client_ca_file"};
	if (!verifies && !files.client_ca.empty())
		throw malformed{"tls_server_config: client_ca_file needs a "
				"client_auth_type that verifies"};
	if (!files.client_names.empty() &&
	    files.clients != client_auth::require_verified)
		throw malformed{"tls_server_config: client_allowed_sans needs "
				"client_auth_type: RequireAndVerifyClientCert"};
	return files;
}

void check_hash(const std::string &user, const std::string &hash)
{
	const bool known = hash.size() == 60 && hash.starts_with("$2") &&
			   std::string_view("aby").find(hash[2]) !=
				   std::string_view::npos &&
			   hash[3] == '$' && hash[6] == '$' &&
			   std::isdigit(hash[4]) && std::isdigit(hash[5]);

	if (!known)
		throw malformed{fmt::format(
			"basic_auth_users.{}: no bcrypt hash ('htpasswd -nBC "
			"10 \"\"' makes one)",
			user)};
	if ((hash[4] - '0') * 10 + hash[5] - '0' > most_cost)
		throw malformed{
			fmt::format("basic_auth_users.{}: the hash's cost is "
				    "above {}, which takes seconds a check",
				    user, most_cost)};
}

/// What exporter-toolkit allows.
void check_header(const std::string &name, const std::string &value)
{
	static const char *const allowed[] = {
		"Strict-Transport-Security", "X-Content-Type-Options",
		"X-Frame-Options", "X-XSS-Protection",
		"Content-Security-Policy"};

	if (std::find(std::begin(allowed), std::end(allowed), name) ==
	    std::end(allowed))
		throw malformed{fmt::format(
			"http_server_config.headers.{}: not a header that may "
			"be set",
			name)};
	if (std::any_of(value.begin(), value.end(),
			[](unsigned char c) { return c < ' ' || c == 127; }))
		throw malformed{fmt::format("http_server_config.headers.{}: "
					    "control characters",
					    name)};
}

/// What a web configuration file has.
struct web_file {
	web_config settings; ///< without the identity, which is in files
	std::optional<tls_files> tls;
};

void check_version(const std::string &key, const std::string &version,
		   std::initializer_list<std::string_view> known)
{
	if (!version.empty() &&
	    std::find(known.begin(), known.end(), version) == known.end())
		throw malformed{fmt::format("tls_server_config.{}: expected {}",
					    key, fmt::join(known, " or "))};
}

void take_tls(section &tls, const std::filesystem::path &folder, web_file &into)
{
	const std::string least = tls.text("min_version");

	into.tls = tls_files_of(tls, folder);
	into.settings.only_tls13 = least == "TLS13";
	check_version("min_version", least, {"TLS12", "TLS13"});
	check_version("max_version", tls.text("max_version"), {"TLS13"});
	tls.refuse("cipher_suites", "GnuTLS chooses; leave it out");
	tls.refuse("curve_preferences", "GnuTLS chooses; leave it out");
	tls.take("prefer_server_cipher_suites");
	tls.end();
}

void take_http(section &http, web_config &into)
{
	http.take("http2"); // an offer that is not made
	for (const auto &[name, value] :
	     section(http.take("headers"), "http_server_config.headers")
		     .texts()) {
		check_header(name, value);
		into.headers.emplace_back(name, value);
	}
	http.end();
}

/// Throws malformed or YAML::Exception.
web_file parse_web_file(const std::string &path)
{
	web_file made;
	section all(YAML::LoadFile(path), "");
	section http(all.take("http_server_config"), "http_server_config");
	const YAML::Node its = all.take("tls_server_config");
	section tls(its, "tls_server_config");

	made.settings.users =
		section(all.take("basic_auth_users"), "basic_auth_users")
			.texts();
	all.end();
	take_http(http, made.settings);
	for (const auto &[user, hash] : made.settings.users)
		check_hash(user, hash);
	if (its.IsDefined() && !its.IsNull())
		take_tls(tls, std::filesystem::path(path).parent_path(), made);
	return made;
}

uncore::result<web_file> read_web_file(const std::string &path)
{
	try {
		return parse_web_file(path);
	} catch (const YAML::BadFile &) {
		return uncore::error{
			errc::system,
			fmt::format("{}: the file cannot be read", path)};
	} catch (const YAML::Exception &bad) {
		return uncore::error{errc::invalid,
				     fmt::format("{}: line {}: {}", path,
						 bad.mark.line + 1, bad.msg)};
	} catch (const malformed &bad) {
		return uncore::error{errc::invalid,
				     fmt::format("{}: {}", path, bad.what)};
	}
}

} // namespace

web_files_watch::web_files_watch(std::string certificate, std::string key,
				 std::string config)
	: certificate_(std::move(certificate)), key_(std::move(key)),
	  config_(std::move(config))
{
}

uncore::result<web_config> web_files_watch::read()
{
	web_file from;
	std::vector<std::string> watched;

	if (!certificate_.empty())
		from.tls = tls_files{certificate_, key_, ""};
	if (!config_.empty()) {
		auto all = read_web_file(config_);

		watched.push_back(config_);
		if (!all)
			return all.error();
		from = *std::move(all);
	}
	if (from.tls) {
		watched.insert(watched.end(),
			       {from.tls->certificate, from.tls->key});
		if (!from.tls->client_ca.empty())
			watched.push_back(from.tls->client_ca);
	}
	if (watched != watched_) {
		watched_ = std::move(watched);
		seen_ = state_of_files();
	}
	if (from.tls) {
		auto loaded = load_identity(*from.tls);

		if (!loaded)
			return loaded.error();
		from.settings.tls = *std::move(loaded);
	}
	return from.settings;
}

/// Which files they are, and as of when.
std::string web_files_watch::state_of_files() const
{
	std::string all;

	for (const std::string &path : watched_) {
		struct stat status {};

		stat(path.c_str(), &status);
		fmt::format_to(std::back_inserter(all), "{} {} {} {} {} ",
			       uint64_t(status.st_dev), uint64_t(status.st_ino),
			       status.st_size, status.st_mtim.tv_sec,
			       status.st_mtim.tv_nsec);
	}
	return all;
}

uncore::result<void> web_files_watch::load()
{
	auto made = read();

	if (!made)
		return made.error();
	now_ = std::make_shared<const web_config>(*std::move(made));
	if (now_->tls)
		use_identity(now_->tls);
	return {};
}

void web_files_watch::reload(bool always)
{
	const auto time = std::chrono::steady_clock::now();

	if (watched_.empty() || (!always && time - checked_ < look_time))
		return;
	checked_ = time;

	std::string state = state_of_files();

	if (!always && state == seen_)
		return;
	seen_ = std::move(state);

	auto made = read();
	std::string wrong = made ? "" : made.error().message;

	if (made &&
	    (!made->tls != !now_->tls || made->only_tls13 != now_->only_tls13))
		wrong = fmt::format("{}: turning TLS on or off, and its least "
				    "version, need a restart",
				    config_);
	if (!wrong.empty()) {
		note(fmt::format("{}; the configuration that was loaded "
				 "before stays",
				 wrong));
		return;
	}
	now_ = std::make_shared<const web_config>(*std::move(made));
	if (now_->tls)
		use_identity(now_->tls);
	note("certificates and web configuration are loaded again");
}

} // namespace cli
