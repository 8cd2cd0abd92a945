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
            for warning in plan.warnings { Console.message("storeledger: warning: \(warning)") }
            if json { return Console.result(try JSONOutput.document(plan)) }
            Console.result("\(plan.job): \(customers(of: plan))")
            if let run = plan.unfinishedRun {
                Console.result(
                    "  run \(run) is unfinished: the next start continues it, and the items are those that it has left"
                )
            }
            for stream in plan.streams {
                let remark = stream.remark.map { " (\($0))" } ?? ""
                guard let items = stream.items, let requests = stream.requestsAtLeast,
                    let atLimit = stream.secondsAtAppleLimit, let atShare = stream.secondsAtShare
                else {
                    let whose = stream.isUpperBound ? " with a revocation in their history" : ""
                    let count = "at least one request for each customer\(whose)"
                    Console.result("  \(stream.stream): \(count)\(remark)")
                    continue
                }
                Console.result(
                    "  \(stream.stream): \(counted(items, "item")), at least \(counted(requests, "request")), "
                        + "\(words(atLimit)) at Apple's limit, \(words(atShare)) at the job's share\(remark)"
                )
            }
            guard let atLimit = plan.secondsAtAppleLimit, let atShare = plan.secondsAtShare else {
                return Console.result("  together: not known before the notifications are read")
            }
            let share = Int((plan.share * 100).rounded())
            let bound = plan.remark == nil ? "at least " : ""
            let remark = plan.remark.map { " (\($0))" } ?? ""
            Console.result(
                "  together: \(bound)\(words(atLimit)) at Apple's limit, "
                    + "\(words(atShare)) at the job's share of \(share)%\(remark)"
            )
        }
    }

    private func customers(of plan: PlanReport) -> String {
        guard let ids = plan.transactionIds else {
            return "the number of customers is not known yet: the first run reads the app's notifications and requests "
                + "every customer they name"
        }
        if plan.followsNotifications {
            if ids > 0 { return "at least \(counted(ids, "customer")), from notifications" }
            let begin = plan.continuesLastRun ? "no customer has changed since the last run" : "no customer yet"
            return "\(begin): a run requests those whom new notifications name"
        }
        guard plan.listsTransactionIds else { return "needs no transaction IDs" }
        let about = plan.transactionIdsAreEstimated ? "about " : ""
        return "\(about)\(counted(ids, "transaction ID")) (\(counted(plan.duplicates, "duplicate")) dropped)"
    }

    /// Rounded up, because a run takes at least this long.
    private func words(_ seconds: Double) -> String {
        Duration.seconds(seconds).inWords(rounded: .up)
    }
}
