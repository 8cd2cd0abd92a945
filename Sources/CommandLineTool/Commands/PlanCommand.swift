import ArgumentParser
import Basics
import Pipeline
import Planning

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "Estimate a job's requests and its duration under Apple's limits; sends and writes nothing.",
        discussion: "  storeledger plan jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func run() async throws {
        try await perform(job: job.path) {
            let plan = try await job.pipeline().plan()
            if json { return Console.result(try JSONOutput.document(plan)) }
            Console.result(
                "\(plan.job): \(plan.transactionIdsAreEstimated ? "about " : "")\(plan.transactionIds) transaction IDs (\(plan.duplicates) duplicates dropped)"
            )
            for stream in plan.streams {
                let remark = stream.remark.map { " (\($0))" } ?? ""
                Console.result(
                    "  \(stream.stream): \(stream.items) items, at least \(stream.requestsAtLeast) requests, "
                        + "\(words(stream.secondsAtAppleLimit)) at Apple's limit, \(words(stream.secondsAtShare)) at the job's share\(remark)"
                )
            }
            let share = Int((plan.share * 100).rounded())
            let bound = plan.remark == nil ? "at least " : ""
            let remark = plan.remark.map { " (\($0))" } ?? ""
            Console.result(
                "  together: \(bound)\(words(plan.secondsAtAppleLimit)) at Apple's limit, "
                    + "\(words(plan.secondsAtShare)) at the job's share of \(share)%\(remark)"
            )
        }
    }

    /// Rounded up, because a run takes at least this long.
    private func words(_ seconds: Double) -> String {
        Duration.seconds(seconds).inWords(rounded: .up)
    }
}
