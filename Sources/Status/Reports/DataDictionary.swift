import Ledger
import LedgerSchema
import Postgres

/// Every table, view, column and function of a ledger, with its comment.
package struct DataDictionary: Sendable, Equatable {
    package struct Relation: Sendable, Equatable {
        package let name: String
        let kind: String
        let comment: String
        let key: String?
        package fileprivate(set) var columns: [Column]

        /// Whether it exists for a refresh of the views alone; see `docs/explanation/refresh.md`.
        package var isOfRefresh: Bool { name.hasPrefix("refresh_") }

        /// Whether it is a view that answers a question.
        package var isShown: Bool { kind != "table" && !isOfRefresh }
    }

    package struct Column: Sendable, Equatable {
        let name: String
        let type: String
        let comment: String
    }

    package let relations: [Relation]

    /// The lines of the document: tables first, then views, each by name.
    package var markdown: [String] {
        var lines = [
            "# Data dictionary",
            "",
            "What `storeledger dictionary` writes: every table and view of the schema, in the words of its comments in the database.",
            "Money in columns `..._milliunits` is in thousandths of a unit of the row's currency, and in columns `..._amount` in units.",
            "Months and days are UTC. Moments are shown in the time zone of the session: `SET TimeZone = 'UTC'` shows them as Apple sends",
            "them. `app_id` leads everywhere: it is one app in one environment. A row never has purchases of the sandbox and of production;",
            "filter by `app_id` before you sum.",
            "",
            "A column of a record that is NULL was not in Apple's record, unless its text says something else: Apple leaves out most fields that do",
            "not apply. A field that Apple sends only when it is true is true or NULL: `IS NOT TRUE` finds the other rows, `NOT column` none.",
        ]
        let parts: [(title: String, intro: [String], relations: [Relation])] = [
            (
                "Views",
                [
                    "What analysts query: the role of an analyst may read each of them except `external_purchase_tokens` and "
                        + "`external_purchase_report_lines`, which show Apple's IDs of tokens."
                ],
                relations.filter(\.isShown)
            ),
            ("Tables", [], relations.filter { $0.kind == "table" && !$0.isOfRefresh }),
        ]
        for (title, intro, group) in parts {
            lines += ["", "## \(title)", ""] + intro.flatMap { [$0, ""] }
            lines += group.map { "- [`\($0.name)`](#\($0.name)): \(Self.cell($0.comment))" }
            for relation in group { lines += Self.section(relation) }
        }
        lines += [
            "", "## Internal", "",
            "Tables and views whose names begin with `refresh_` are for a refresh of the views alone. No role may read them.",
            "Their definitions are in `sql/views` and `sql/migrations`.",
        ]
        return lines
    }

    private static func section(_ relation: Relation) -> [String] {
        let key = relation.key.map { ", by `\($0)`" } ?? ""
        let intro = ["", "### \(relation.name)", "", "\(relation.comment) (\(relation.kind)\(key))", ""]
        guard !relation.columns.isEmpty else { return Array(intro.dropLast()) }
        let rows = relation.columns.map { "| `\($0.name)` | \($0.type) | \(cell($0.comment)) |" }
        return intro + ["| Column | Type | Meaning |", "|---|---|---|"] + rows
    }

    /// A comment as a table cell: on one line, with escaped separators.
    private static func cell(_ comment: String) -> String {
        comment.replacing("|", with: "\\|").replacing("\n", with: " ")
    }
}

extension Ledger {
    /// Reads the dictionary from the database catalog, without reading rows.
    package func dictionary() async throws -> DataDictionary {
        try await transaction(.readOnlySnapshot) { connection in
            let rows = try connection.run(
                .dataDictionary
            )
            var relations: [DataDictionary.Relation] = []
            for row in rows {
                let name = try row.text("name")
                if relations.last?.name != name {
                    relations.append(
                        DataDictionary.Relation(
                            name: name,
                            kind: try row.text("kind"),
                            comment: try row.text("comment"),
                            key: try row.textOrNil("key"),
                            columns: []
                        )
                    )
                }
                // Tables that are used as locks have no columns.
                guard let column = try row.textOrNil("column") else { continue }
                relations[relations.count - 1].columns.append(
                    DataDictionary.Column(
                        name: column,
                        type: try row.text("type"),
                        comment: try row.text("meaning")
                    )
                )
            }
            return DataDictionary(relations: relations)
        }
    }
}
