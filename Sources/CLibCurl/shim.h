#include <curl/curl.h>

/* curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, so Swift cannot call them.
   One typed door per kind of argument: the C type must be exactly the one the option's manual page
   names, because a variadic call converts nothing (an int where a long belongs often seems to work). */

static inline CURLcode storeledger_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

/* For the options whose names end in _LARGE. */
static inline CURLcode storeledger_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/* curl copies the string; NULL puts the option back to none. */
static inline CURLcode storeledger_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* The pointer itself: for callbacks' user data, CURLOPT_ERRORBUFFER and CURLOPT_COPYPOSTFIELDS. */
static inline CURLcode storeledger_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* curl keeps the list, not a copy: it must outlive the transfer. */
static inline CURLcode storeledger_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

/* CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION share this shape. */
typedef size_t (*storeledger_curl_sink)(char *bytes, size_t size, size_t count, void *user);

static inline CURLcode storeledger_curl_set_sink(CURL *easy, CURLoption option, storeledger_curl_sink value) {
    return curl_easy_setopt(easy, option, value);
}

/* Called each time a request is about to go out on a connection; from 7.80.0 on. */
static inline CURLcode storeledger_curl_set_departure(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode storeledger_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

/* For the infos whose names end in _T. */
static inline CURLcode storeledger_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode storeledger_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Lets a handle go without waiting for a name lookup that hangs; from 7.87.0 on. A library older than these
   headers does not know the option, and then waits as it always did. */
static inline CURLcode storeledger_curl_set_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    CURLcode code = curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    return code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
#else
    (void)easy;
    return CURLE_OK;
#endif
}

/* Called with each new socket before it connects, and with the pointer of CURLOPT_SOCKOPTDATA. */
static inline CURLcode storeledger_curl_set_socket_setup(CURL *easy, curl_sockopt_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, value);
}

/* Called in place of close(2); libcurl keeps it with the connection. */
static inline CURLcode storeledger_curl_set_socket_closing(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}
