import CLibCurl

/// Initialises libcurl once per process and checks its version.
enum CurlLibrary {
    /// The first release that limits protocols by name (`CURLOPT_PROTOCOLS_STR`).
    private static let oldestVersion: UInt32 = 0x07_55_00

    /// Why libcurl cannot be used, or `nil` when it can.
    ///
    /// A static `let` because `curl_global_init` must run once, before any other call, on one thread.
    static let problem: TransportFault? = {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
            return TransportFault(.unavailable, "libcurl cannot be initialized (curl_global_init).")
        }
        guard let found = unsafe curl_version_info(CURLVERSION_FIRST) else {
            return TransportFault(.unavailable, "libcurl does not report its version.")
        }
        guard unsafe found.pointee.version_num >= oldestVersion else {
            let version = unsafe String(cString: found.pointee.version)
            return TransportFault(.unavailable, "libcurl is \(version); it must be 7.85.0 or newer.")
        }
        return nil
    }()
}
