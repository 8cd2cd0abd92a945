import StrictJSON

/// What the body of an answer other than 200 says, when it is Apple's.
package enum ErrorPayload {
    /// Returns `nil` for a body that is not a JSON object with an integer `errorCode`: a proxy's page, or nothing at all.
    ///
    /// A missing `errorMessage` is empty. The message is untrusted text; whoever prints it shortens and escapes it.
    package static func decode(_ body: [UInt8]) -> (code: Int64, message: String)? {
        // Silence is right: whatever is not Apple's JSON is reported by its HTTP status.
        guard let object = try? StrictJSON.parseObject(body), let code = object["errorCode"]?.number?.int64 else {
            return nil
        }
        return (code, object["errorMessage"]?.string ?? "")
    }
}
