import Basics
import Status

/// The plain text output of `status` for a job with only a receiver.
struct ReceiverStatusText {
    private let status: ReceiverStatus
    /// The path of the job file, for commands in the text.
    private let jobFile: String?

    init(_ status: ReceiverStatus, jobFile: String?) {
        self.status = status
        self.jobFile = jobFile
    }

    var lines: [String] {
        var lines = ["\(status.job): \(status.app) (\(status.environment)), a receiver"]
        lines +=
            status.receiver?.lines ?? [
                "  nothing was received yet; storeledger receive JOB receives notifications"
            ]
        if status.pending > 0, let seconds = status.oldestPendingSeconds {
            let age = Duration.seconds(seconds).inWords
            lines.append("  \(counted(status.pending, "notification")) not yet records, the oldest for \(age)")
        }
        for (reason, count) in status.refused.sorted(by: { $0.key < $1.key }) {
            lines.append("  refused: \(counted(count, "notification")) for \(reason)")
        }
        lines += status.forwards?.lines ?? []
        return lines.map { namingJob(jobFile, in: $0) }
    }
}
