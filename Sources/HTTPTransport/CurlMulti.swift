import CLibCurl

/// libcurl's multi handle: many exchanges on one thread, one pool of connections.
///
/// `@unchecked Sendable` holds because ``wake()`` is the only method called off the transport's thread,
/// `curl_multi_wakeup` is documented to be callable from any, and ``CurlLoop`` calls it no more once it is closed.
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

    /// Closes every connection; nothing else may be called afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe curl_multi_cleanup(handle)
    }

    func add(_ easy: CurlEasy) throws(TransportFault) {
        guard unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK else {
            throw TransportFault(.unavailable, "libcurl does not take another request.")
        }
    }

    func remove(_ easy: CurlEasy) {
        unsafe curl_multi_remove_handle(handle, easy.handle)
    }

    /// Returns `false` when libcurl failed as a whole; a single exchange's failure is not that.
    func perform() -> Bool {
        var running: Int32 = 0
        return unsafe curl_multi_perform(handle, &running) == CURLM_OK
    }

    /// Sleeps until a socket, a time-out or ``wake()`` asks for attention.
    ///
    /// A wake-up that came before the call counts, so none is lost.
    func waitForWork() -> Bool {
        // Only a ceiling: libcurl returns earlier for its own time-outs. It bounds how long a lost wake-up can hide an order.
        unsafe curl_multi_poll(handle, nil, 0, 1_000, nil) == CURLM_OK
    }

    func wake() {
        // It writes into a socket, which can fail.
        for _ in 1...3 where unsafe curl_multi_wakeup(handle) == CURLM_OK { return }
    }

    /// An exchange that is over, and how it ended.
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
