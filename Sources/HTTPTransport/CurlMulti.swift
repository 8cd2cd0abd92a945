import CLibCurl

/// libcurl's multi handle: many exchanges on one thread, one pool of connections.
///
/// `@unchecked Sendable`: only ``wake()`` is called on other threads than the transport's. `curl_multi_wakeup` allows
/// that, and ``CurlLoop`` does not call it after closing.
@safe
final class CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    private var isClosed = false

    init(maximumConnections: Int) throws(TransportFault) {
        guard let handle = unsafe curl_multi_init() else {
            throw TransportFault(.unavailable, "libcurl has no memory for a multi handle.")
        }
        unsafe self.handle = handle
        let options = [
            (CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
            (CURLMOPT_MAX_TOTAL_CONNECTIONS, maximumConnections),
            (CURLMOPT_MAXCONNECTS, maximumConnections),
        ]
        for (option, value) in options {
            guard unsafe storeledger_curl_multi_set_long(handle, option, value) == CURLM_OK else {
                throw TransportFault(.unavailable, "libcurl refuses the multi option \(option.rawValue).")
            }
        }
    }

    deinit { close() }

    /// Closes all connections.
    ///
    /// No other method may be called afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe curl_multi_cleanup(handle)
    }

    func add(_ easy: CurlEasy) throws(TransportFault) {
        guard unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK else {
            throw TransportFault(.unavailable, "libcurl does not accept another request.")
        }
    }

    func remove(_ easy: CurlEasy) {
        unsafe curl_multi_remove_handle(handle, easy.handle)
    }

    /// Returns `false` when libcurl failed as a whole; the failure of a single exchange does not count.
    func perform() -> Bool {
        var running: Int32 = 0
        return unsafe curl_multi_perform(handle, &running) == CURLM_OK
    }

    /// Waits for a socket, a time-out or ``wake()``.
    ///
    /// A wake-up before the call makes it return at once.
    func waitForWork() -> Bool {
        // At most a second, in case ``wake()`` failed. libcurl returns earlier for its own time-outs.
        unsafe curl_multi_poll(handle, nil, 0, 1_000, nil) == CURLM_OK
    }

    func wake() {
        // The call writes to a socket and can fail.
        for _ in 1...3 where unsafe curl_multi_wakeup(handle) == CURLM_OK { return }
    }

    /// A finished exchange and its result.
    func nextFinished() -> (CurlEasy.ID, CURLcode)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            return unsafe (CurlEasy.ID(bitPattern: easy), message.pointee.data.result)
        }
        return nil
    }
}
