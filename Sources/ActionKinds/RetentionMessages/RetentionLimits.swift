/// What Apple allows for retention messages.
///
/// Source: Upload Image, Upload Message, UploadMessageRequestBody, Realtime URL, Retention Messaging API 1.5, read 2026-11. Apple does not
/// document the unit of the lengths; StoreLedger counts characters as a reader does, so an emoji is one.
package enum RetentionLimits {
    package static let header = 66
    package static let body = 144
    package static let bulletText = 66
    package static let altText = 150
    package static let bulletPoints = 5
    package static let realtimeURL = 256
    /// Images, and likewise messages, of one app.
    package static let perApp = 2_000
    package static let imageSizes = ["FULL_SIZE", "BULLET_POINT"]
}
