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
/// Timeout in ms: the kubelet is on this machine.
constexpr long most_ms = 1000;
/// Limit of a list in bytes, far above the size of any list.
constexpr size_t most_list_bytes = 64 << 20;

/// The functions of libcurl.  The library is loaded only for an address: it needs more
/// libraries than this program itself, and takes as long to load.
struct curl_library {
	curl_library();

	/// False if libcurl is not installed.
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
	// dlclose() is never called: the functions are used until the process
	// ends.
	void *file = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const auto find = [file](auto &function, const char *name) {
		function = reinterpret_cast<std::decay_t<decltype(function)>>(
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

size_t append_part(char *data, size_t, size_t size, void *output)
{
	auto &text = *static_cast<std::string *>(output);

	if (text.size() + size > most_list_bytes)
		return 0;
	text.append(data, size);
	return size;
}

uncore::error no_list(const pod_source &source, std::string_view reason)
{
	return uncore::error{uncore::errc::system,
			     fmt::format("{}: {}", source.where, reason)};
}

} // namespace

bool is_address(std::string_view text)
{
	return text.starts_with("http://") || text.starts_with("https://");
}

uncore::result<std::string> get_pod_list(const pod_source &source)
{
	static const curl_library curl;

	if (!curl)
		return no_list(
			source,
			"an address needs libcurl: apt-get install libcurl3-gnutls");

	const std::unique_ptr<CURL, decltype(curl.cleanup)> request(
		curl.init(), curl.cleanup);
	std::array<char, CURL_ERROR_SIZE> message{};
	std::string text, token;
	long status = 0;

	if (!request)
		return no_list(source, "out of memory");
	if (!source.token.empty()) {
		std::ifstream file(source.token);

		if (!(file >> token))
			return no_list(source,
				       fmt::format("{} has no token",
						   source.token.string()));
	}
	const auto set = [&request](CURLoption option, auto value) {
		(void)curl.setopt(request.get(), option, value);
	};

	set(CURLOPT_URL, source.where.c_str());
	set(CURLOPT_PROTOCOLS_STR, "http,https");
	set(CURLOPT_NOPROXY, "*");
	set(CURLOPT_NOSIGNAL, 1L);
	set(CURLOPT_TIMEOUT_MS, most_ms);
	set(CURLOPT_ERRORBUFFER, message.data());
	set(CURLOPT_WRITEFUNCTION, &append_part);
	set(CURLOPT_WRITEDATA, static_cast<void *>(&text));
	if (!token.empty()) {
		set(CURLOPT_HTTPAUTH, long(CURLAUTH_BEARER));
		set(CURLOPT_XOAUTH2_BEARER, token.c_str());
	}
	if (!source.authorities.empty())
		set(CURLOPT_CAINFO, source.authorities.c_str());

	const CURLcode outcome = curl.perform(request.get());

	if (outcome == CURLE_WRITE_ERROR)
		return no_list(
			source,
			"more than 64 MiB, which no list of a machine's pods has");
	if (outcome != CURLE_OK)
		return no_list(source, *message.data()
					       ? message.data()
					       : curl.strerror(outcome));
	(void)curl.getinfo(request.get(), CURLINFO_RESPONSE_CODE, &status);
	if (status == 401 || status == 403)
		return no_list(
			source,
			fmt::format(
				"refused with status {}: --pods-token names a file with a token that may get nodes/proxy",
				status));
	if (status != 200)
		return no_list(source, fmt::format("status {}", status));
	return text;
}

} // namespace cli
