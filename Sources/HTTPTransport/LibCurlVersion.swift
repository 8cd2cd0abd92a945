import CLibCurl

/// The version of libcurl at run time, which can differ from the one at build time.
package enum LibCurlVersion {
    /// Major, minor, patch; empty when libcurl does not report its version.
    package static var loaded: [Int] {
        guard let found = unsafe curl_version_info(CURLVERSION_FIRST) else { return [] }
        let number = unsafe Int(found.pointee.version_num)
        return [number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF]
    }
}
