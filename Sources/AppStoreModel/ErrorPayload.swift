import StrictJSON

/// Reads the error body of an answer from Apple.
package enum ErrorPayload {
    /// Returns `nil` for a body that is not a JSON object with an integer `errorCode`, such as a proxy's page.
    ///
    /// A missing `errorMessage` is empty. The message is untrusted text: shorten and escape it before printing it.
    package static func decode(_ body: [UInt8]) -> (code: Int64, message: String)? {
        // The error is ignored, because an answer without Apple's JSON is reported by its HTTP status.
        guard let object = try? StrictJSON.parseObject(body), let code = object["errorCode"]?.number?.int64 else {
            return nil
        }
        return (code, object["errorMessage"]?.string ?? "")
    }
}
