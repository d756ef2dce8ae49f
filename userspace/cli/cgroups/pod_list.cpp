// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups/pod_list.hpp"

#include <array>
#include <fstream>
#include <memory>
#include <type_traits>

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace cli {

namespace {

constexpr const char *library = "libcurl-gnutls.so.4";
/// The kubelet is on this machine.
constexpr long most_ms = 1000;
/// A list of a machine's pods is smaller, by far.
constexpr size_t most_list_bytes = 64 << 20;

/// libcurl, which brings more libraries than the command has, and takes as long
/// to load: only those who use it pay.
struct curl_library {
	curl_library();

	/// False where it is not installed.
	explicit operator bool() const { return perform; }

	decltype(&curl_global_init) global_init{};
	decltype(&curl_easy_init) init{};
	decltype(&curl_easy_setopt) setopt{};
	decltype(&curl_easy_perform) perform{};
	decltype(&curl_easy_getinfo) getinfo{};
	decltype(&curl_easy_strerror) strerror{};
	decltype(&curl_easy_cleanup) cleanup{};
};

curl_library::curl_library()
{
	// It is not closed: what it has made lives as long as the process.
	void *file = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const auto find = [file](auto &to, const char *name) {
		to = reinterpret_cast<std::decay_t<decltype(to)>>(
			file ? dlsym(file, name) : nullptr);
	};

	find(global_init, "curl_global_init");
	find(init, "curl_easy_init");
	find(setopt, "curl_easy_setopt");
	find(perform, "curl_easy_perform");
	find(getinfo, "curl_easy_getinfo");
	find(strerror, "curl_easy_strerror");
	find(cleanup, "curl_easy_cleanup");
	if (perform && global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		perform = nullptr;
}

size_t append_part(char *data, size_t, size_t size, void *to)
{
	auto &text = *static_cast<std::string *>(to);

	if (text.size() + size > most_list_bytes)
		return 0;
	text.append(data, size);
	return size;
}

uncore::error no_list(const pod_source &from, std::string_view why)
{
	return uncore::error{uncore::errc::system,
			     fmt::format("{}: {}", from.where, why)};
}

} // namespace

bool is_address(std::string_view where)
{
	return where.starts_with("http://") || where.starts_with("https://");
}

uncore::result<std::string> get_pod_list(const pod_source &from)
{
	static const curl_library curl;

	if (!curl)
		return no_list(
			from,
			"an address needs libcurl: apt-get install libcurl3-gnutls");

	const std::unique_ptr<CURL, decltype(curl.cleanup)> request(
		curl.init(), curl.cleanup);
	std::array<char, CURL_ERROR_SIZE> why{};
	std::string text, token;
	long status = 0;

	if (!request)
		return no_list(from, "out of memory");
	if (!from.token.empty()) {
		std::ifstream file(from.token);

		if (!(file >> token))
			return no_list(from, fmt::format("{} has no token",
							 from.token.string()));
	}
	const auto set = [&request](CURLoption option, auto value) {
		(void)curl.setopt(request.get(), option, value);
	};

	set(CURLOPT_URL, from.where.c_str());
	set(CURLOPT_PROTOCOLS_STR, "http,https");
	set(CURLOPT_NOPROXY, "*");
	set(CURLOPT_NOSIGNAL, 1L);
	set(CURLOPT_TIMEOUT_MS, most_ms);
	set(CURLOPT_ERRORBUFFER, why.data());
	set(CURLOPT_WRITEFUNCTION, &append_part);
	set(CURLOPT_WRITEDATA, static_cast<void *>(&text));
	if (!token.empty()) {
		set(CURLOPT_HTTPAUTH, long(CURLAUTH_BEARER));
		set(CURLOPT_XOAUTH2_BEARER, token.c_str());
	}
	if (!from.authorities.empty())
		set(CURLOPT_CAINFO, from.authorities.c_str());

	const CURLcode done = curl.perform(request.get());

	if (done == CURLE_WRITE_ERROR)
		return no_list(
			from,
			"more than 64 MiB, which no list of a machine's pods has");
	if (done != CURLE_OK)
		return no_list(from,
			       *why.data() ? why.data() : curl.strerror(done));
	(void)curl.getinfo(request.get(), CURLINFO_RESPONSE_CODE, &status);
	if (status == 401 || status == 403)
		return no_list(
			from,
			fmt::format(
				"refused with status {}: --pods-token names a file with a token that may get nodes/proxy",
				status));
	if (status != 200)
		return no_list(from, fmt::format("status {}", status));
	return text;
}

} // namespace cli
