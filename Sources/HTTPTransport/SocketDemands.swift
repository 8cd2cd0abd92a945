import CLibCurl
import Glibc

/// What is demanded of every socket, so that no byte of a request leaves this machine long after it was handed over.
///
/// libcurl gives a request up after ``TransportConfiguration/totalTimeout``. What it has written by then may still lie in the
/// kernel, which sends it as soon as the network lets it: a minute later, and the limiter no longer counts it. Two things
/// prevent that:
///
/// - `TCP_USER_TIMEOUT`: the kernel drops the connection, and all that waits in it, once sent data was not acknowledged, or
///   a closed window kept data from being sent, for ``TransportConfiguration/unacknowledgedTimeout``. It holds for a socket that
///   is closed already as well.
/// - A socket that is closed while it holds bytes that the server has not acknowledged is reset (`SO_LINGER` of zero seconds):
///   the kernel drops those bytes. Otherwise it would go on sending them, by default for minutes.
///
/// What remains: each acknowledgement restarts the first of the two. A server that takes a request of some kilobytes
/// piece by piece with pauses just below the time-out, on an HTTP/2 connection that other requests keep open, can stretch it
/// beyond. Over HTTP/1.1 it cannot, because giving up closes the connection. What has left this machine and lies in the
/// network is not covered: half of the limiter's flight time is for that.
enum SocketDemands {
    /// Called with each new socket, and with the time-out in milliseconds in place of an address: a number needs no owner.
    static let setUp: curl_sockopt_callback = { timeout, socket, _ in
        var milliseconds = UInt32(UInt(bitPattern: timeout))
        let size = socklen_t(MemoryLayout<UInt32>.size)
        let isSet = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size) == 0
        return Int32(isSet ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR)
    }

    /// Called in place of `close`.
    static let closing: curl_closesocket_callback = { _, socket in
        resetIfUnacknowledged(socket)
        return close(socket)
    }

    /// Makes the close that follows drop what the server has not acknowledged.
    private static func resetIfUnacknowledged(_ socket: Int32) {
        var unacknowledged: Int32 = 0
        // An unknown answer counts as yes: after the answer has arrived, a reset does no harm.
        let isAsked = unsafe ioctl(socket, UInt(TIOCOUTQ), &unacknowledged) == 0
        guard !isAsked || unacknowledged > 0 else { return }
        var immediately = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size))
    }
}
