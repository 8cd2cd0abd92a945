import COpenSSL

/// OpenSSL's error queue, which belongs to a thread and outlives the call that filled it.
enum OpenSSLErrors {
    /// Empties this thread's queue and returns its text; call it right after a failure, before any `await`.
    ///
    /// The text names functions and reasons of OpenSSL's own, never key bytes.
    ///
    /// Ends the process where the reason is a lack of memory; see ``outOfMemory()``.
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

    /// Ends the process, as Swift does when it has no memory.
    ///
    /// A lack of memory says nothing about a record, and a verdict made of it would stay in the ledger.
    static func outOfMemory() -> Never {
        fatalError("OpenSSL is out of memory.")
    }
}
