/// A job file about a simulated store, in the store's own directory.
struct JobText {
    var name = "nightly"
    /// What is under `app` and `appStore`; the store's own job file has them right.
    var store: String
    var transactionIds: String? = "csv: {path: ids.csv, column: transaction_id}"
    var streams = [
        "transactionHistory: {}",
        "refundHistory: {for: all}",
        "notificationHistory: {scope: app, startDate: -2d}",
    ]
    /// Fast: only tests of the limiter want its pace.
    var limits = """
        {concurrency: 8, share: 1,
           requestsPerSecond: {transactionHistory: 100000, refundHistory: 100000, notificationHistory: 100000}}
        """
    var schema = "appstore"
    var csv: String?

    /// - Parameter storeJob: The job file the simulator wrote.
    init(storeJob: String) {
        let lines = storeJob.split(separator: "\n", omittingEmptySubsequences: false)
        store = lines.drop { $0 != "app:" }.prefix { $0 != "transactionIds:" }.joined(separator: "\n")
    }

    var text: String {
        var text = "version: 1\nname: \(name)\n\(store)\n"
        if let transactionIds { text += "transactionIds:\n  \(transactionIds)\n" }
        text += "streams:\n" + streams.map { "  \($0)\n" }.joined()
        text += "limits: \(limits)\n"
        text += "output:\n  postgres: {url: \"${DATABASE_URL}\", schema: \(schema)}\n"
        if let csv { text += "  csv: \(csv)\n" }
        return text
    }
}
