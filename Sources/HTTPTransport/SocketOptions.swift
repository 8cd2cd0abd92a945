import CLibCurl
import Platform

/// Socket options that stop the kernel from sending bytes of a request long after libcurl wrote them.
///
/// libcurl gives up a request after ``TransportConfiguration/totalTimeout``. Bytes that it wrote before can still be in
/// the kernel, which sends them as soon as the network allows. That could be more than a minute later, when the rate
/// limiter no longer counts the request. Two options prevent it:
///
/// - `TCP_USER_TIMEOUT`: the kernel drops the connection and its unsent data when sent data is not acknowledged, or a closed
///   window blocks data, for ``TransportConfiguration/unacknowledgedTimeout``. This is also true of a closed socket.
/// - `SO_LINGER` with zero seconds: closing a socket with unacknowledged bytes resets the connection, and the kernel drops
///   the bytes. Otherwise it would continue to send them, by default for minutes.
///
/// One case remains: each acknowledgement restarts the time-out of the first option. A server that accepts a request of
/// some kilobytes in pieces, with pauses just below the time-out, can delay it further on an HTTP/2 connection that
/// other requests keep open. Over HTTP/1.1 it cannot, because giving up closes the connection. Half of the limiter's
/// flight time covers bytes that are already in the network.
enum SocketOptions {
    /// Called for each new socket.
    ///
    /// The pointer is the time-out in milliseconds as a number, so it needs no owner.
    static let setUp: curl_sockopt_callback = { timeout, socket, _ in
        let isSet = setUnacknowledgedTimeout(milliseconds: UInt32(UInt(bitPattern: timeout)), of: socket)
        // A child process that inherits the socket would keep the connection, and its unsent bytes, alive after the close here.
        let closesOnExec = fcntl(socket, F_SETFD, FD_CLOEXEC) == 0
        return Int32(isSet && closesOnExec ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR)
    }

    /// Called in place of `close`.
    static let closing: curl_closesocket_callback = { _, socket in
        resetIfUnacknowledged(socket)
        return close(socket)
    }

    /// Makes the following close drop bytes that the server has not acknowledged.
    private static func resetIfUnacknowledged(_ socket: Int32) {
        // If the number is unknown, the connection is reset, which does no harm after the response has arrived.
        guard unacknowledgedBytes(of: socket) != 0 else { return }
        var immediately = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size))
    }
}
