import AppStoreModel
import SignedData

/// The files that `serve` writes for clients before it accepts a connection.
struct ClientFiles: Sendable {
    let directory: StoreDirectory
    /// The directory with the account's key and root, relative to ``directory``, with a slash at its end; empty for the same one.
    let account: String
    let app: SimulatedApp
    let root: [UInt8]
    /// One transaction ID per customer.
    let ids: [UInt64]
    /// One order ID per customer who has an order; none in the sandbox, which has no Look Up Order ID.
    let orders: [String]
    let receipts: ExampleReceipts
    let windowSeconds: Int

    /// Writes all files, `ready.json` last: a client that sees it can use the others.
    func write(port: Int, processID: Int32) throws(SimulatorError) {
        let path = directory.path
        let baseURL = "http://127.0.0.1:\(port)"
        try DirectoryFile.write(directory.worldFile.json, to: path + "/world.json")
        if account.isEmpty { try DirectoryFile.write(root, to: path + "/root.cer") }
        try DirectoryFile.write(idList, to: path + "/ids.csv")
        try DirectoryFile.write(orderList, to: path + "/orders.csv")
        try DirectoryFile.write(receipts.list, to: path + "/receipts.csv")
        try DirectoryFile.write(job(baseURL: baseURL), to: path + "/job.yaml")
        let ready = jsonObject {
            $0.member("port", Int64(port))
            $0.member("baseURL", baseURL)
            $0.member("pid", Int64(processID))
        }
        try DirectoryFile.write(ready + [UInt8(ascii: "\n")], to: path + "/ready.json")
    }

    private var idList: String {
        "transaction_id\n" + ids.map { "\($0)\n" }.joined()
    }

    private var orderList: String {
        "order_id\n" + orders.map { $0 + "\n" }.joined()
    }

    /// A job file that loads everything this simulator has.
    private func job(baseURL: String) -> String {
        let appAppleId = app.appAppleId.map { "\n  appAppleId: \($0)" } ?? ""
        let limits = windowSeconds == 3_600 ? "" : "limits:\n  windowSeconds: \(windowSeconds)\n"
        return """
            # Written by appstore-simulator for this directory. Run it while the simulator runs:
            #   storeledger migrate job.yaml && storeledger run job.yaml
            version: 1
            name: simulated-app-store
            app:
              bundleId: \(app.bundleId)\(appAppleId)
              environment: \(app.environment.rawValue)
            appStore:
              issuerId: \(app.issuerId)
              keyId: \(app.keyId)
              privateKeyFile: \(account)\(directory.keyFile(of: app))
              baseURL: \(baseURL)
              trustedRoots: [\(account)root.cer]
            transactionIds:
              csv: {path: ids.csv, column: transaction_id}
            streams:
              transactionHistory: {}
              refundHistory: {for: all}
              notificationHistory:
                scope: app
                startDate: \(app.environment == .production ? "-30d" : "-29d")
                endDate: now
            \(limits)output:
              postgres: {url: "${DATABASE_URL}"}
              csv: {directory: out, tables: [transactions, refunds, notifications]}

            """
    }
}
