import FoundationEssentials

extension DataDictionary {
    /// The tables that the dbt package reads.
    private static let dbtTables = [
        "advanced_commerce_refunds", "notifications", "refunds", "renewals", "runs", "transactions",
    ]

    /// The sources of the dbt package, as YAML: `dbt/models/sources.yml`.
    ///
    /// On PostgreSQL they are the masked views, and on DuckDB the Parquet files of the tables. The descriptions are the
    /// comments in the database. Columns of the primary key are tested for NULL, and columns whose comment lists Apple's values
    /// for other values; those are warnings, because Apple adds values.
    package var dbtSources: [String] {
        var lines = [
            "# Written by: storeledger dictionary --dbt-sources",
            "version: 2",
            "",
            "sources:",
            "  - name: storeledger",
            "    description: Records of the App Store Server API, verified and stored by StoreLedger.",
            #"    schema: "{{ var('storeledger_schema') }}""#,
            "    # The files name the app of each row, and have no app_id.",
            "    meta:",
            #"      external_location: "(select hash(bundle_id, environment) as app_id, * from read_parquet('{{ var('storeledger_parquet') }}/{name}.parquet'))""#,
            "    tables:",
        ]
        for name in Self.dbtTables {
            guard let table = relations.first(where: { $0.name == name }),
                let masked = relations.first(where: { $0.name == "masked_" + name })
            else { continue }
            lines += Self.source(table, masked)
        }
        return lines
    }

    private static func source(_ table: Relation, _ masked: Relation) -> [String] {
        let keys = (table.key ?? "").split(separator: ", ").map(String.init)
        var lines = [
            "      - name: \(table.name)",
            #"        identifier: "{{ (var('storeledger_prefix') if target.type == 'postgres' else '') ~ '\#(table.name)' }}""#,
            "        description: \(quoted(table.comment))",
        ]
        if table.name == "runs" {
            lines += [
                "        # A night without a complete run.",
                "        config:",
                "          loaded_at_field: finished_at",
                "          freshness:",
                "            filter: exit_code in (0, 2)",
                "            warn_after: {count: 36, period: hour}",
                "            error_after: {count: 72, period: hour}",
            ]
        }
        if !keys.isEmpty {
            lines += [
                "        data_tests:",
                "          - unique_key: {arguments: {columns: [\(keys.joined(separator: ", "))]}}",
            ]
        }
        lines.append("        columns:")
        // The files have the columns of the table, and the masked view lacks some of them.
        for column in table.columns where masked.columns.contains(where: { $0.name == column.name }) {
            lines += [
                "          - name: \(column.name)",
                "            description: \(quoted(column.comment))",
            ]
            let values = values(in: column.comment)
            if keys.contains(column.name) {
                lines.append("            data_tests: [not_null]")
            } else if column.type == "text", values.count > 1 {
                let list = values.joined(separator: ", ")
                lines += [
                    "            data_tests:",
                    "              - accepted_values: {arguments: {values: [\(list)]}, config: {severity: warn}}",
                ]
            }
        }
        return lines
    }

    /// The values of Apple's that a comment lists, such as PURCHASE and RENEWAL.
    ///
    /// A comment with "such as" lists only some of them.
    private static func values(in comment: String) -> [String] {
        guard comment.hasPrefix("Apple's "), !comment.contains("such as") else { return [] }
        let words = comment.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        return words.filter { word in
            word.count > 3 && word != "NULL" && word.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" }
        }
    }

    /// A text as a YAML scalar in double quotes; JSON strings are such scalars.
    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Strings always encode.
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
