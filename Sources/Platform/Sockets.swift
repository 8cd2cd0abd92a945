/// Makes the kernel drop a connection, and its unsent data, when sent data is not acknowledged for this long.
///
/// - Returns: Whether the option is set.
package func setUnacknowledgedTimeout(milliseconds: UInt32, of socket: Int32) -> Bool {
    #if os(Linux)
        let option = TCP_USER_TIMEOUT
        var value = milliseconds
    #else
        let option = TCP_RXT_CONNDROPTIME
        var value = (milliseconds + 999) / 1_000  // seconds
    #endif
    let size = socklen_t(MemoryLayout<UInt32>.size)
    return unsafe setsockopt(socket, Int32(IPPROTO_TCP), option, &value, size) == 0
}

/// The number of bytes that the other side has not acknowledged; `nil` if it is not known.
package func unacknowledgedBytes(of socket: Int32) -> Int32? {
    var bytes: Int32 = 0
    #if os(Linux)
        guard unsafe ioctl(socket, UInt(TIOCOUTQ), &bytes) == 0 else { return nil }
    #else
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, SO_NWRITE, &bytes, &size) == 0 else { return nil }
    #endif
    return bytes
}
