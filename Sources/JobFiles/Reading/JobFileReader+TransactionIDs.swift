import AppStoreModel
import JobSyntax
import Streams

extension JobFileReader {
    func transactionIds(_ file: Section) -> TransactionIDSource? {
        guard let section = file.section("transactionIds", keys: Section.listKeys + ["changedSince"]) else {
            return nil
        }
        guard section.namesOneSource(of: Section.listKeys + ["changedSince"]) else { return nil }
        return section.idList(.transaction).map(TransactionIDSource.listed) ?? changedSince(section)
    }

    private func changedSince(_ section: Section) -> TransactionIDSource? {
        guard let since = section.date("changedSince", allowsLastRun: true, allowsNow: false) else { return nil }
        return .changedSince(since)
    }

    /// Reports a job with `changedSince` that does not request all notifications since then, or that requests nothing
    /// else.
    func checkChangedSince(_ file: Section, _ source: TransactionIDSource?, _ streams: JobStreams) {
        guard case .changedSince(let since) = source else { return }
        let report = { (advice: String) in
            problems.report(
                file.place(of: "transactionIds").missing("changedSince"),
                "takes the customers from the app's notifications",
                advice
            )
        }
        let notifications = streams.all.first { $0.items == .windows && type(of: $0).namesChangedCustomers }
        guard let notifications else {
            return report("add the stream \(AllStreams.changedCustomersStream.name.rawValue) with scope: app as well")
        }
        notifications.advice(forChangesSince: since).forEach(report)
        guard !streams.all.contains(where: \.items.needsTransactionIDs) else { return }
        let others = AllStreams.types.filter { !$0.namesChangedCustomers }.map { $0.name.rawValue }
        report("add the stream \(others.joined(separator: " or ")), which requests these customers")
    }
}
