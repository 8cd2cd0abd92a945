import AppStoreModel

extension Section {
    /// The keys of a section with a list of IDs.
    package static let listKeys = ["list", "csv", "query"]

    /// Reports a section that names no source or more than one.
    package func namesOneSource(of keys: [String]) -> Bool {
        let named = keys.filter(has)
        guard named.count != 1 else { return true }
        problems.report(
            place,
            named.isEmpty ? "names no source" : "names \(named.joined(separator: " and "))",
            "name exactly one of \(keys.dropLast().joined(separator: ", ")) and \(keys.last ?? "")"
        )
        return false
    }

    /// Reads `list`, `csv` or `query`, and reports its problems; `nil` if the section has none of them.
    package func idList(_ kind: IDKind) -> IDList? {
        if let ids = texts(
            "list",
            "it must be \(kind.name): \(kind.rule), in quotes",
            canBeEmpty: false,
            where: kind.accepts
        ) {
            return .list(ids)
        }
        if let path = scalar("csv")?.text, !path.isEmpty {
            // Only a file name is quoted, because another text can be a secret in the wrong place.
            let example = path.hasSuffix(".csv") && scalar("csv")?.variables.isEmpty == true ? path : "ids.csv"
            problems.report(place(of: "csv"), "is a text", "write csv: {path: \(example)}")
            return nil
        }
        if let csv = section("csv", keys: ["path", "column"]) {
            let path = csv.path("path", "it must be the path of a CSV file", isRequired: true)
            let column = csv.text("column", "it must be the name of a column in the file's header")
            return path.map { .csv(path: paths.absolute($0), column: column) }
        }
        return query().map(IDList.query)
    }

    /// Reads `query`, and reports its problems; `nil` if the section has none.
    package func query() -> String? {
        text("query", "it must be one SELECT or WITH statement without a semicolon", where: Self.isOneSelect)
    }

    private static func isOneSelect(_ statement: String) -> Bool {
        let word = statement.drop(while: \.isWhitespace).prefix { !$0.isWhitespace && $0 != "(" }
        return ["select", "with"].contains(word.lowercased()) && !statement.utf8.contains(UInt8(ascii: ";"))
    }
}
