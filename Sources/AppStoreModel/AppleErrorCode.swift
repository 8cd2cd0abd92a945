/// The documented error codes of the App Store Server API, of the Advanced Commerce API and of the Retention Messaging API, with
/// Apple's names.
///
/// Both APIs send 4000006, 4000033 and 4000028; the last is called InvalidStorefrontError in the Advanced Commerce API. An answer
/// can contain a code that is not in this list. Source: App Store Server API 1.23 and Advanced Commerce API 1.2, error codes, read
/// 2026-11.
package enum AppleErrorCode: Int64, CaseIterable, Sendable {
    case generalBadRequest = 4_000_000
    case invalidAppIdentifier = 4_000_002
    case invalidLimit = 4_000_004
    case invalidRequestRevision = 4_000_005
    case invalidTransactionId = 4_000_006
    case invalidOriginalTransactionId = 4_000_008
    case invalidExtendByDays = 4_000_009
    case invalidExtendReasonCode = 4_000_010
    case invalidRequestIdentifier = 4_000_011
    case startDateTooFarInPast = 4_000_012
    case startDateAfterEndDate = 4_000_013
    case invalidPaginationToken = 4_000_014
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case paginationTokenExpired = 4_000_017
    case invalidNotificationType = 4_000_018
    case multipleFiltersSupplied = 4_000_019
    case invalidTestNotificationToken = 4_000_020
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidProductId = 4_000_023
    case invalidSubscriptionGroupIdentifier = 4_000_024
    case invalidExcludeRevoked = 4_000_025
    case invalidInAppOwnershipType = 4_000_026
    case invalidEmptyStorefrontCountryCodeList = 4_000_027
    case invalidStorefrontCountryCode = 4_000_028
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    case invalidAccountTenure = 4_000_032
    case invalidAppAccountToken = 4_000_033
    case invalidConsumptionStatus = 4_000_034
    case invalidCustomerConsented = 4_000_035
    case invalidDeliveryStatus = 4_000_036
    case invalidLifetimeDollarsPurchased = 4_000_037
    case invalidLifetimeDollarsRefunded = 4_000_038
    case invalidPlatform = 4_000_039
    case invalidPlayTime = 4_000_040
    case invalidSampleContentProvided = 4_000_041
    case invalidUserStatus = 4_000_042
    case invalidTransactionNotConsumable = 4_000_043
    case invalidRefundPreference = 4_000_044
    case invalidTransactionTypeNotSupported = 4_000_047
    case appTransactionIdNotSupported = 4_000_048
    case invalidCurrency = 4_000_053
    case oneItemNeededInModify = 4_000_063
    case nullRequestInfo = 4_000_079
    case nullRequestReferenceID = 4_000_080
    case invalidRequestReferenceID = 4_000_081
    case invalidConsistencyToken = 4_000_082
    case nullVersion = 4_000_083
    case unexpectedVersion = 4_000_084
    case nullTransactionId = 4_000_085
    case negativePrice = 4_000_086
    case skuLengthExceeded = 4_000_087
    case descriptionLengthExceeded = 4_000_088
    case displayNameLengthExceeded = 4_000_089
    case negativeProratedPrice = 4_000_091
    case nullOfferPeriod = 4_000_092
    case nullPeriodCount = 4_000_093
    case periodCountNotPositive = 4_000_094
    case nullReason = 4_000_095
    case invalidPreviousTransactionID = 4_000_096
    case repeatedRequestReferenceId = 4_000_097
    case nullCurrency = 4_000_098
    case nullTaxCode = 4_000_099
    case nullStorefront = 4_000_100
    case nullItems = 4_000_101
    case nullItem = 4_000_102
    case nullDescriptors = 4_000_103
    case nullPeriod = 4_000_104
    case nullSKU = 4_000_105
    case nullDisplayName = 4_000_106
    case nullDescription = 4_000_107
    case nullPrice = 4_000_109
    case nullRetainBillingCycle = 4_000_110
    case nullEffective = 4_000_111
    case nullNewSKU = 4_000_112
    case invalidPreviousSubscription = 4_000_113
    case productAlreadyExists = 4_000_114
    case invalidProductChanges = 4_000_115
    case invalidSalable = 4_000_116
    case invalidSalableDuration = 4_000_117
    case invalidDisplayName = 4_000_118
    case invalidDescription = 4_000_119
    case invalidProduct = 4_000_121
    case invalidSKU = 4_000_122
    case invalidRefundType = 4_000_123
    case invalidRefundReason = 4_000_124
    case invalidChangeReason = 4_000_125
    case invalidOfferReason = 4_000_126
    case invalidTaxProductCode = 4_000_127
    case invalidOfferPeriod = 4_000_128
    case invalidOfferPeriodCount = 4_000_129
    case invalidRenewalPeriod = 4_000_130
    case invalidRenewalPrice = 4_000_131
    case invalidAmount = 4_000_132
    case mismatchedStorefront = 4_000_133
    case missingPricingConfigForStorefront = 4_000_134
    case operationNotAllowed = 4_000_135
    case moreItemsThanAllowed = 4_000_136
    case moreOffersThanAllowed = 4_000_137
    case emptyAddChangeItems = 4_000_139
    case missingUpdatedItemsWithPeriodChange = 4_000_140
    case periodResetWithRetainBillingCycle = 4_000_141
    case periodChangeEffectiveConflict = 4_000_142
    case multipleOperationsOnSingleSKU = 4_000_143
    case removeItemsWithoutAddOrChangeItems = 4_000_144
    case removeItemNotFound = 4_000_145
    case changeItemNotFound = 4_000_146
    case misalignedBillingCycle = 4_000_147
    case billingCycleResetWithEffectiveLater = 4_000_148
    case periodChangeImmediateWithEffectiveAtNextBillingCycle = 4_000_149
    case multiplePrices = 4_000_150
    case invalidProratedPrice = 4_000_151
    case invalidOfferPrice = 4_000_152
    case nullRefundAmount = 4_000_153
    case negativeRefundAmount = 4_000_154
    case refundAmountWithoutCustom = 4_000_155
    case nullRefundReason = 4_000_156
    case nullRefundType = 4_000_157
    case simulateRefundDeclineOnlyInSandbox = 4_000_158
    case nullRefundRisking = 4_000_159
    case atLeastOneItem = 4_000_160
    case invalidImage = 4_000_161
    case headerTooLong = 4_000_162
    case bodyTooLong = 4_000_163
    case invalidLocale = 4_000_164
    case atLeastOneOfDisplayNameOrDescription = 4_000_165
    case nullTargetProductID = 4_000_166
    case invalidTargetProductID = 4_000_167
    case removalAllNotAllowed = 4_000_168
    case nullCurrentSKU = 4_000_169
    case nullAdvancedCommerceData = 4_000_171
    case invalidOperation = 4_000_172
    case malformedPayload = 4_000_173
    case invalidSignature = 4_000_174
    case altTextTooLong = 4_000_175
    case subscriptionAlreadyMigrated = 4_000_176
    case offerPreventsItemMidCycleChange = 4_000_177
    case priceChangeNotSupportedThroughModifyItems = 4_000_178
    case itemLimitExceeded = 4_000_179
    case pendingChangesMismatch = 4_000_180
    case pendingRefund = 4_000_181
    case proratedOnlyLatestTransaction = 4_000_182
    case invalidAppAccountTokenUUID = 4_000_183
    case partialSimulateRefundDecline = 4_000_184
    case familyTransactionNotSupported = 4_000_185
    case revokeOnInactiveSubscription = 4_000_186
    case transactionIdIsNotOriginalTransactionId = 4_000_187
    case dependentSKUsCannotBeShared = 4_000_192
    case dependentSKUsCannotBeChained = 4_000_193
    case itemCannotBeSpecifiedMultipleTimes = 4_000_194
    case priceChangeCannotBeIssuedWhenAlreadyCommunicated = 4_000_205
    case consumptionPercentageAutoRenewableSubscription = 4_000_209
    case invalidPerformanceTestRequest = 4_000_211
    case invalidRequestId = 4_000_212
    case existingPerformanceTestRun = 4_000_213
    case invalidPriceForChangeItemInPriceIncrease = 4_000_214
    case invalidRealtimeURL = 4_000_215
    case invalidImageSize = 4_000_216
    case tooManyBulletPoints = 4_000_218
    case bulletPointTextTooLong = 4_000_219
    case invalidSKUProvidedMustBeCurrentSKUSetToRenew = 4_000_220
    case acaPriceIncreaseIsNotCurrentlySupportedInIndia = 4_000_221
    case invalidProratedPriceForChangeItemWithEffectiveLater = 4_000_222
    case freeTrialOfferMustUsePeriodCountOfOne = 4_000_223
    case aboveImageRequiresAnImage = 4_000_224
    case invalidGroupId = 4_000_225
    case invalidAssignedTransactionNotSupported = 4_000_227
    case unauthorized = 4_010_000
    case subscriptionExtensionIneligible = 4_030_004
    case subscriptionMaxExtension = 4_030_005
    case familySharedSubscriptionExtensionIneligible = 4_030_007
    case subscriptionDoesNotExist = 4_030_008
    case subscriptionAlreadyExists = 4_030_009
    case subscriptionNotEligible = 4_030_010
    case subscriptionAlreadyActive = 4_030_011
    case productNotOwned = 4_030_013
    case maximumNumberOfImagesReached = 4_030_014
    case inactiveACASub = 4_030_015
    case maximumNumberOfMessagesReached = 4_030_016
    case messageNotApproved = 4_030_017
    case imageNotApproved = 4_030_018
    case imageInUse = 4_030_019
    case insufficientFunds = 4_030_020
    case alreadyRefunded = 4_030_021
    case storefrontChange = 4_030_022
    case productNotEligible = 4_030_023
    case transactionNotRefundable = 4_030_024
    case transactionCannotBeRefundedContactSupport = 4_030_025
    case noPassingTest = 4_030_026
    case migrationNotAllowedWhenPriceIncreaseCommunicated = 4_030_027
    case assignedSubscriptionExtensionIneligible = 4_030_028
    case accountNotFound = 4_040_001
    case accountNotFoundRetryable = 4_040_002
    case appNotFound = 4_040_003
    case appNotFoundRetryable = 4_040_004
    case originalTransactionIdNotFound = 4_040_005
    case originalTransactionIdNotFoundRetryable = 4_040_006
    case serverNotificationURLNotFound = 4_040_007
    case testNotificationNotFound = 4_040_008
    case statusRequestNotFound = 4_040_009
    case transactionIdNotFound = 4_040_010
    case imageNotFound = 4_040_014
    case messageNotFound = 4_040_015
    case productNotFound = 4_040_016
    case performanceTestRunNotFound = 4_040_018
    case appTransactionDoesNotExist = 4_040_019
    case defaultMessageNotFound = 4_040_020
    case realtimeURLNotFound = 4_040_021
    case groupNotFound = 4_040_022
    case imageAlreadyExists = 4_090_000
    case messageAlreadyExists = 4_090_001
    case rateLimitExceeded = 4_290_000
    case generalInternal = 5_000_000
    case generalInternalRetryable = 5_000_001

    /// The HTTP status that Apple sends the code with, such as 404 for 4040010.
    package var status: Int { Int(rawValue / 10_000) }

    /// Apple's name of the error object, such as `SKULengthExceededError`.
    package var objectName: String {
        let name = String(describing: self)
        for acronym in ["sku", "aca"] where name.hasPrefix(acronym) {
            return "\(acronym.uppercased())\(name.dropFirst(acronym.count))Error"
        }
        return "\(name.prefix(1).uppercased())\(name.dropFirst())Error"
    }

    /// ``objectName``, as the Advanced Commerce API calls it.
    package var advancedCommerceName: String {
        self == .invalidStorefrontCountryCode ? "InvalidStorefrontError" : objectName
    }
}
