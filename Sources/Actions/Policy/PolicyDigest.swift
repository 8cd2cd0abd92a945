import ActionKinds
import AppStoreModel
import Basics
import Hashing
import JobFiles
import StrictJSON

extension ActionJob {
    /// SHA-256 of the app, the job and its policy, hexadecimal: what an approval of a policy names; `nil` without a policy.
    package var policySHA256: String? {
        policy.map { policy in
            let identity = [app.bundleId, app.environment.rawValue, name, action.name.rawValue]
            let text = Array((identity.joined(separator: "\n") + "\n").utf8)
            return SHA256.digest(of: text + JSONWriter.bytes(.object(policy.json))).hexadecimal
        }
    }
}
