/// A job file for a simulated store, in the store's directory.
package struct JobText {
    package var name = "nightly"
    /// The sections `app` and `appStore` from the store's own job file.
    package var store: String
    package var transactionIds: String? = "csv: {path: ids.csv, column: transaction_id}"
    package var streams = [
        "transactionHistory: {}",
        "refundHistory: {for: all}",
        "notificationHistory: {scope: app, startDate: -2d}",
    ]
    /// No pacing by default: only tests of the rate limiter need it.
    package var limits = """
        {concurrency: 8, share: 1,
           requestsPerSecond: {transactionHistory: 100000, refundHistory: 100000, notificationHistory: 100000}}
        """
    package var schema = "appstore"
    package var csv: String?
    package var parquet: String?
    package var notify: String?
    package var retention: String?

    /// - Parameter storeJob: The job file from the simulator.
    package init(storeJob: String) {
        let lines = storeJob.split(separator: "\n", omittingEmptySubsequences: false)
        store = lines.drop { $0 != "app:" }.prefix { $0 != "transactionIds:" }.joined(separator: "\n")
    }

    package var text: String {
        var text = "version: 1\nname: \(name)\n\(store)\n"
        if let transactionIds { text += "transactionIds:\n  \(transactionIds)\n" }
        text += "streams:\n" + streams.map { "  \($0)\n" }.joined()
        text += "limits: \(limits)\n"
        text += "output:\n  postgres: {url: \"${DATABASE_URL}\", schema: \(schema)}\n"
        if let csv { text += "  csv: \(csv)\n" }
        if let parquet { text += "  parquet: \(parquet)\n" }
        if let notify { text += "notify: \(notify)\n" }
        if let retention { text += "retention: \(retention)\n" }
        return text
    }
}
