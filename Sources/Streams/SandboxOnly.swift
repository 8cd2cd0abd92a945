package import AppStoreModel

/// The calls that Apple offers only in the sandbox, for the warnings of `plan` and `doctor`.
///
/// A Production job is not refused, because Apple can open a call at any time.
package enum SandboxOnly {
    /// - Parameter names: The job's streams or its action that Apple offers only in the sandbox.
    /// - Returns: One sentence; `nil` for a Sandbox job, and without such names.
    package static func warning(_ names: [StreamName], in environment: AppStoreEnvironment) -> String? {
        guard environment == .production, !names.isEmpty else { return nil }
        let list = names.map(\.rawValue).joined(separator: ", ")
        return "\(list): Apple offers this only in the sandbox so far, so requests in Production are likely to fail"
    }
}
