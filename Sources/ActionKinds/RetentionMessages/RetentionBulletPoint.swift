import Basics
package import StrictJSON

/// One bullet point of a retention message, in Apple's form.
package struct RetentionBulletPoint: Equatable, Sendable {
    package let text: String
    package let imageIdentifier: String
    package let altText: String

    package init(text: String, imageIdentifier: String, altText: String) {
        self.text = text
        self.imageIdentifier = imageIdentifier
        self.altText = altText
    }

    /// - Returns: `nil` for JSON that is not such an object.
    init?(_ json: JSONValue) {
        guard let object = json.object, let text = object["text"]?.string, let altText = object["altText"]?.string,
            let image = object["imageIdentifier"]?.string.flatMap(UUIDText.bytes(ofAnyForm:)),
            (1...RetentionLimits.bulletText).contains(text.count),
            (1...RetentionLimits.altText).contains(altText.count), object.members.count == 3
        else { return nil }
        self.init(text: text, imageIdentifier: UUIDText.text(of: image), altText: altText)
    }

    package var json: JSONValue {
        .object(
            .of([
                ("text", .string(text)), ("imageIdentifier", .string(imageIdentifier)), ("altText", .string(altText)),
            ])
        )
    }

    /// - Returns: `nil` for JSON that is not a list of one to five bullet points.
    static func list(_ json: JSONValue) -> [RetentionBulletPoint]? {
        guard let elements = json.array, (1...RetentionLimits.bulletPoints).contains(elements.count) else { return nil }
        let points = elements.compactMap(RetentionBulletPoint.init)
        return points.count == elements.count ? points : nil
    }
}
