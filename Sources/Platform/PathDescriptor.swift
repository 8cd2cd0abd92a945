/// A flag of `open` for a descriptor that only names a file: of a link itself with `O_NOFOLLOW`, or of a directory without the right
/// to read it.
#if os(Linux)
    // O_PATH of <fcntl.h>, which the headers define only for GNU sources. All of Swift's processors have this number.
    package let openPathOnly: Int32 = 0o10_000_000
#else
    package let openPathOnly: Int32 = O_SYMLINK
#endif

/// Where an open link leads; `nil` if it cannot be read, with the reason in `errno`.
package func target(ofLink descriptor: Int32) -> String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    #if os(Linux)
        let length = unsafe readlinkat(descriptor, "", &path, path.count)
    #else
        let length = unsafe Int(freadlink(descriptor, &path, path.count))
    #endif
    guard length > 0 else { return nil }
    // CChar has no sign on some processors.
    return String(decoding: path.prefix(length).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
}

/// Whether an open file has a POSIX access list, whose entries for other users and groups count as the group's permissions.
///
/// Darwin's lists have no part in the permissions and are not read.
package func hasAccessList(_ descriptor: Int32) -> Bool {
    #if os(Linux)
        // The modules of Linux's C libraries lack <sys/xattr.h>.
        typealias GetAttribute = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
        guard let symbol = unsafe dlsym(nil, "fgetxattr") else { return false }
        let attribute = unsafe unsafeBitCast(symbol, to: GetAttribute.self)
        return unsafe attribute(descriptor, "system.posix_acl_access", nil, 0) > 0
    #else
        return false
    #endif
}

extension stat {
    /// When the content was last changed.
    package var modification: timespec {
        #if os(Linux)
            st_mtim
        #else
            st_mtimespec
        #endif
    }

    /// When the content, the permissions or the names were last changed.
    package var change: timespec {
        #if os(Linux)
            st_ctim
        #else
            st_ctimespec
        #endif
    }
}
