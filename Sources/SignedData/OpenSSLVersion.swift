import COpenSSL

/// The version of OpenSSL at run time, which can differ from the one at build time.
package enum OpenSSLVersion {
    /// Major, minor, patch.
    package static var loaded: [Int] {
        [Int(OPENSSL_version_major()), Int(OPENSSL_version_minor()), Int(OPENSSL_version_patch())]
    }
}
