import COpenSSL

/// The OpenSSL this process runs with, which may be another than it was built with.
package enum OpenSSLVersion {
    /// Major, minor, patch.
    package static var loaded: [Int] {
        [Int(OPENSSL_version_major()), Int(OPENSSL_version_minor()), Int(OPENSSL_version_patch())]
    }
}
