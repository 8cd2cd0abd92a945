import JobSyntax

extension JobFileReader {
    /// Reads the section `notify`; `nil` if it is missing or invalid.
    func notify(_ file: Section) -> Webhook? {
        guard let section = file.section("notify", keys: ["url", "format", "on"]) else { return nil }
        let url = section.text(
            "url",
            "it must be an https URL without user and password; http only for a loopback address",
            isRequired: true,
            isSecret: true,
            where: { WebhookURL($0) != nil }
        )
        let format = section.has("format") ? section.choice("format", of: Webhook.Format.self) : .json
        let endings: [Webhook.Ending]?
        if section.has("on") {
            endings = section.choices("on", of: Webhook.Ending.self)
            if endings?.isEmpty == true { section.report("on", "it must be failure, success or both") }
        } else {
            endings = Webhook.defaultEndings
        }
        guard let url = url.flatMap(WebhookURL.init), let format, let endings else { return nil }
        return Webhook(url: url, format: format, endings: endings)
    }
}
