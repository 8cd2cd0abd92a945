import CLibCurl

/// The libcurl this process runs with, which may be another than it was built with.
package enum LibCurlVersion {
    /// Major, minor, patch; empty when libcurl does not tell.
    package static var loaded: [Int] {
        guard let found = unsafe curl_version_info(CURLVERSION_FIRST) else { return [] }
        let number = unsafe Int(found.pointee.version_num)
        return [number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF]
    }
}
