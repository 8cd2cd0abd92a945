import COpenSSL

/// OpenSSL's error queue.
///
/// Each thread has one, and its entries stay until they are read.
enum OpenSSLErrors {
    /// Empties this thread's queue and returns its text; call it directly after a failure, before any `await`.
    ///
    /// The text contains OpenSSL's reasons, never key bytes.
    ///
    /// Ends the process when the reason is a lack of memory; see ``outOfMemory()``.
    @discardableResult
    static func drain() -> String {
        var messages: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if ledger_is_out_of_memory(code) { outOfMemory() }
            guard let reason = unsafe ERR_reason_error_string(code) else { continue }
            unsafe messages.append(String(cString: reason))
        }
        return messages.isEmpty ? "no reason given" : messages.joined(separator: "; ")
    }

    /// Ends the process, as Swift does when an allocation fails.
    ///
    /// A lack of memory is not a property of a record. A rejection because of it would stay in the ledger.
    static func outOfMemory() -> Never {
        fatalError("OpenSSL is out of memory.")
    }
}
