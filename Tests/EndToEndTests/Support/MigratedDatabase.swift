import TestSupport
import Testing

extension Trait where Self == TemporaryDatabase {
    /// A new database for each test, in which `storeledger migrate` has made the schema `appstore`.
    ///
    /// Tests of what a command makes of a database without a schema have `.temporaryDatabase`.
    static var migratedDatabase: Self { .temporaryDatabase(.migrated) }
}

extension TemporaryDatabase.Template {
    /// A database with the schema `appstore`, as `storeledger migrate` makes it.
    static let migrated = TemporaryDatabase.Template { conninfo in
        try await withTemporaryDirectory { directory in
            try await SimulatedStore.serving(.init(customers: 1), in: directory + "/store") { store in
                let arguments = ["migrate", store.directory + "/job.yaml"]
                try await withChildProcess(Executables.storeledger, arguments, environment: ["DATABASE_URL": conninfo])
                {
                    let code = await $0.wait()
                    guard code == 0 else { throw NotMigrated(code: code, errors: $0.errors) }
                }
            }
        }
    }
}

private struct NotMigrated: Error {
    let code: Int32
    let errors: String
}
