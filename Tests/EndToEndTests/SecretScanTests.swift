import FoundationEssentials
import TestSupport
import Testing

/// T16: where no secret may be after a run.
@Suite(.migratedDatabase)
struct SecretScanTests {
    /// The key ID and the issuer are in every bearer token, in base64; the database and the files need neither.
    @Test func `no database, file or output of any command contains the key, a bearer token or the password`()
        async throws
    {
        try await Stage.with(.init(customers: 6)) { stage in
            let folder = stage.store.directory
            let keyFile = try #require(
                try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".p8") }
            )
            let key = try String(contentsOfFile: folder + "/" + keyFile, encoding: .utf8)
            let issuer = try #require(stage.job.store.firstMatch(of: /issuerId: *"?([0-9A-Za-z-]{8,})/)).1
            let keyID = keyFile.dropFirst("SubscriptionKey_".count).dropLast(".p8".count)
            let needles = Needles(
                [Stage.plantedPassword, String(issuer), String(keyID)]
                    + key.split(separator: "\n").filter { !$0.hasPrefix("-") && $0.count >= 8 }.map(String.init)
            )
            // A search that finds nothing anywhere would prove nothing.
            #expect(needles.ids(in: key).count >= 2)
            #expect(!needles.ids(in: stage.databaseURL()).isEmpty)
            #expect(!needles.ids(in: stage.job.store).isEmpty)

            let temporary = stage.directory + "/temporary"
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
            var job = stage.job
            job.csv = "{directory: out, tables: [transactions, notifications, runs, rejected_records]}"
            let path = try await stage.migrated(job)
            try await stage.store.setFaults(
                #"{"rules": [{"atRequest": 3, "fault": "forgeSignature"}, {"atRequest": 5, "fault": "status", "status": 401}]}"#
            )
            var other = job
            other.name = "variable"
            other.csv = nil
            other.takeKeyFromVariable()
            let variable = try stage.write(other)
            let told = stage.directory + "/told"
            try FileManager.default.createDirectory(atPath: told, withIntermediateDirectories: false)
            for arguments in [
                ["run", path], ["run", path, "--restart"], ["doctor", path], ["export", path],
                [
                    "run", path, "--log-format", "json", "--log-level", "debug", "--metrics-file", told + "/job.prom",
                ],
                ["run", variable, "--progress", "json"], ["doctor", variable],
                ["retry", path, "--progress", "json"], ["replay", path], ["refresh", path],
                ["status", path, "--json"], ["coverage", path], ["dictionary", path],
                ["report", path, "--output", told + "/report.html"],
            ] {
                let environment = ["TMPDIR": temporary, "APPSTORE_PRIVATE_KEY": key]
                try await stage.withStoreledger(arguments, environment: environment) { process in
                    let code = await process.wait()
                    #expect([0, 2].contains(code), "\(arguments): \(process.errors)")
                    let said = needles.ids(in: process.output + process.errors)
                    // The doctor names the key by its ID, which alone opens nothing.
                    #expect(said.subtracting(arguments[0] == "doctor" ? [String(keyID)] : []).isEmpty, "\(arguments)")
                }
            }
            #expect(FileManager.default.fileExists(atPath: told + "/job.prom"))

            #expect(needles.ids(in: try await dump()).isEmpty)
            for directory in [folder + "/out", temporary, told] {
                for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                    let text = try String(contentsOfFile: directory + "/" + name, encoding: .utf8)
                    #expect(needles.ids(in: text).isEmpty, "\(name)")
                }
            }
        }
    }

    private func dump() async throws -> String {
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        let arguments = ["pg_dump", "--dbname", try TemporaryDatabase.conninfo]
        return try await withChildProcess("/usr/bin/env", arguments, environment: environment) { process in
            #expect(await process.wait() == 0, "\(process.errors)")
            return process.output
        }
    }
}
