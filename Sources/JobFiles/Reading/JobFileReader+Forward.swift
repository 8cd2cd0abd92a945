import AppStoreModel
import JobSyntax

extension JobFileReader {
    /// Reads `receiver.forward`; empty if it is missing or invalid.
    func forwards(_ receiver: Section, of settings: ReceiverSettings) -> [Forward] {
        let keys = ["url", "environment"]
        guard receiver.has("forward"),
            let entries = receiver.sections("forward", keys: keys, "it must be a list, such as [{url: https://…}]")
        else { return [] }
        if entries.count > Forward.most {
            problems.report(
                receiver.place(of: "forward"),
                "has \(entries.count) URLs",
                "it can have at most \(Forward.most)"
            )
        }
        var forwards: [Forward] = []
        for entry in entries {
            guard let forward = forward(entry) else { continue }
            if forwards.contains(where: { $0.name == forward.name }) {
                problems.report(
                    entry.place(of: "url"),
                    "is a URL twice",
                    "name each URL once; URLs that differ only in their query are the same"
                )
            } else if forward.isOwnURL(of: settings) {
                problems.report(
                    entry.place(of: "url"),
                    "is the URL of the receiver itself",
                    "name the URL of another server"
                )
            }
            forwards.append(forward)
        }
        return forwards
    }

    private func forward(_ entry: Section) -> Forward? {
        let url = entry.text(
            "url",
            "it must be \(Forward.urlRule)",
            isRequired: true,
            isSecret: true,
            where: Forward.accepts
        )
        let environment = entry.choice("environment", of: AppStoreEnvironment.self)
        guard let url = url.flatMap(WebhookURL.init) else { return nil }
        return Forward(url: url, environment: environment)
    }
}
