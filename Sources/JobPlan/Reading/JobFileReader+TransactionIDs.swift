import AppStoreModel

extension JobFileReader {
    func transactionIds(_ file: Section) -> TransactionIDSource? {
        let keys = ["list", "csv", "query", "changedSince"]
        guard let section = file.section("transactionIds", keys: keys) else { return nil }
        let named = keys.filter(section.has)
        guard named.count == 1 else {
            problems.report(
                section.place,
                named.isEmpty ? "names no source" : "names \(named.joined(separator: " and "))",
                "name exactly one of list, csv, query and changedSince"
            )
            return nil
        }
        return list(section) ?? csv(section) ?? query(section) ?? changedSince(section)
    }

    private func list(_ section: Section) -> TransactionIDSource? {
        let expected = "it must be a transaction ID: 1 to 20 digits, in quotes"
        return section.texts("list", expected, canBeEmpty: false) { TransactionID($0) != nil }
            .map { .list($0.compactMap { TransactionID($0) }) }
    }

    private func csv(_ section: Section) -> TransactionIDSource? {
        guard let csv = section.section("csv", keys: ["path", "column"]) else { return nil }
        let path = csv.text("path", "it must be the path of a CSV file", isRequired: true)
        let column = csv.text("column", "it must be the name of a column in the file's header")
        return path.map { .csv(path: paths.absolute($0), column: column) }
    }

    private func query(_ section: Section) -> TransactionIDSource? {
        section.text("query", "it must be one SELECT or WITH statement without a semicolon", where: isOneSelect)
            .map { .query($0) }
    }

    private func changedSince(_ section: Section) -> TransactionIDSource? {
        guard let since = section.date("changedSince", allowsLastRun: true, allowsNow: false) else { return nil }
        return .changedSince(since)
    }

    /// Reports a job with `changedSince` that does not request all notifications since then, or that requests nothing
    /// else.
    func checkChangedSince(_ file: Section, _ source: TransactionIDSource?, _ streams: JobFile.Streams) {
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
            return report("add the stream \(AllStreams.namingChangedCustomers.name.rawValue) with scope: app beside it")
        }
        notifications.advice(forChangesSince: since).forEach(report)
        guard streams.all.allSatisfy({ $0.items == .windows }) else { return }
        let others = AllStreams.types.filter { !$0.namesChangedCustomers }.map { $0.name.rawValue }
        report("add the stream \(others.joined(separator: " or ")), which requests these customers")
    }

    private func isOneSelect(_ statement: String) -> Bool {
        let word = statement.drop(while: \.isWhitespace).prefix { !$0.isWhitespace && $0 != "(" }
        return ["select", "with"].contains(word.lowercased()) && !statement.utf8.contains(UInt8(ascii: ";"))
    }
}
