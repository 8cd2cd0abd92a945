import Basics
import JobPlan

extension OldRecords {
    /// Such as `1200 archived payloads (3.4 MB)`.
    package var inWords: String {
        let count =
            switch part {
            case .archive: counted(rows, "archived payload")
            case .sendAttempts: counted(rows, "send attempt")
            case .items: "\(counted(rows, "item")) of superseded runs"
            case .receivedNotifications: counted(rows, "received notification")
            }
        return "\(count) (\(sizeInWords(bytes)))"
    }
}
