import JobSyntax

extension JobFileReader {
    /// Reads the job's outputs.
    ///
    /// - Parameters:
    ///   - file: The whole file.
    ///   - inputs: The files that the job reads, with absolute paths; no output may replace one of them.
    /// - Returns: `nil` if the section or its database is missing or invalid.
    func output(_ file: Section, inputs: [(name: String, path: String)]) -> JobFile.Output? {
        let expected = "it must name postgres, the database to write to"
        let keys = ["postgres"] + FileFormat.allCases.map(\.rawValue)
        guard let section = file.section("output", keys: keys, required: expected) else { return nil }
        var outputs: [FileOutput] = []
        for format in FileFormat.allCases {
            guard let files = files(section, format, inputs, beside: outputs) else { continue }
            outputs.append(files)
        }
        return postgres(section).map { JobFile.Output(postgres: $0, files: outputs) }
    }

    func postgres(_ output: Section) -> PostgresOutput? {
        let expected = "it must name url, such as ${DATABASE_URL}"
        guard
            let section = output.section(
                "postgres",
                keys: ["url", "schema", "connections"],
                required: expected,
                example: "postgres: {url: \"${DATABASE_URL}\"}"
            )
        else { return nil }
        let url = connectionString(section)
        let schema = section.text(
            "schema",
            "it must be \(PostgresOutput.schemaNameRule)",
            where: PostgresOutput.isSchemaName
        )
        let connections = section.integer("connections", in: PostgresOutput.possibleConnections)
        return url.map {
            PostgresOutput(url: DatabaseURL($0), schema: schema, connections: connections.map { Int($0) })
        }
    }

    /// Reads the connection string, which no message shows.
    private func connectionString(_ section: Section) -> String? {
        let expected = "it must be a PostgreSQL connection string, such as postgresql:///ledger"
        guard section.has("url"), let scalar = section.scalar("url") else {
            return section.text("url", expected, isRequired: true, isSecret: true)
        }
        guard let text = scalar.string, isConnectionString(text) else {
            problems.report(section.place(of: "url"), "is not a connection string", expected)
            return nil
        }
        if containsPassword(scalar.ownText) {
            problems.warn(
                section.place(of: "url"),
                "holds a password in the file itself; take it from an environment variable or a PostgreSQL passfile"
            )
        }
        return text
    }

    private func isConnectionString(_ text: String) -> Bool {
        if ["postgres://", "postgresql://"].contains(where: text.hasPrefix) { return true }
        // libpq's other form, `host=db dbname=ledger`.
        guard let equals = text.firstIndex(of: "=") else { return false }
        let keyword = text[..<equals].filter { !$0.isWhitespace }
        return !keyword.isEmpty && keyword.utf8.allSatisfy { isLowercaseOrDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// Whether the file's own text contains a password.
    ///
    /// A password from an environment variable does not count.
    private func containsPassword(_ ownText: String) -> Bool {
        if let scheme = ownText.firstRange(of: "://"), let at = ownText.lastIndex(of: "@"), at > scheme.lowerBound {
            let user = ownText[scheme.upperBound...].prefix { $0 != "@" }
            if let colon = user.firstIndex(of: ":"), user[colon...].count > 1 { return true }
        }
        guard let keyword = ownText.firstRange(of: "password") else { return false }
        let value = ownText[keyword.upperBound...].drop { $0.isWhitespace || $0 == "=" }.prefix {
            !$0.isWhitespace && $0 != "&"
        }
        // An empty value, as in `password= host=db`, is followed by the next keyword.
        return !value.isEmpty && !value.contains("=")
    }

    private func files(
        _ output: Section,
        _ format: FileFormat,
        _ inputs: [(name: String, path: String)],
        beside others: [FileOutput]
    ) -> FileOutput? {
        guard
            let section = output.section(
                format.rawValue,
                keys: ["directory", "tables", "changes"],
                example: "\(format.rawValue): {directory: out}"
            )
        else { return nil }
        let directory = section.text(
            "directory",
            FileOutput.rule(for: section.scalar("directory")?.text ?? ""),
            isRequired: true,
            where: { FileOutput.place(paths.ofApp($0), absolute: paths.absolute($0)) != nil }
        ).flatMap { FileOutput.place(paths.ofApp($0), absolute: paths.absolute($0)) }
        refuseShared(in: section)
        let tables = section.texts(
            "tables",
            "it must be a table of the ledger, such as \(FileOutput.defaultTables.joined(separator: ", "))",
            canBeEmpty: false,
            where: FileOutput.knownTables.contains
        )
        if let tables, Set(tables).count < tables.count {
            problems.report(section.place(of: "tables"), "names a table twice", "name each once")
        }
        let changes = section.flag("changes") ?? false
        if changes, let table = tables?.first(where: { !FileOutput.tablesWithChanges.contains($0) }) {
            problems.report(
                section.place(of: "tables"),
                "names \(table), whose changes cannot be published",
                "with changes: true, it must name tables of records, such as \(FileOutput.defaultTables.joined(separator: ", "))"
            )
        }
        guard let directory else { return nil }
        let files = FileOutput(
            format,
            directory: directory,
            tables: tables ?? FileOutput.defaultTables,
            changes: changes
        )
        let outputs = [files.directory] + files.fileNames.map { JobPaths.joined(files.directory, $0) }
        for (name, path) in inputs where outputs.contains(where: { JobPaths.areSame($0, path) }) {
            problems.report(section.place(of: "directory"), "would replace \(name)", "choose another directory")
        }
        // Each directory has one manifest.json.
        if let other = others.first(where: { JobPaths.areSame($0.directory, files.directory) }) {
            let found = "is also the directory of output.\(other.format.rawValue)"
            problems.report(section.place(of: "directory"), found, "choose another directory")
        }
        return files
    }
}
