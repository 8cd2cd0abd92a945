-- A part of statements: whether window i is read for the first time. WindowReading.swift explains the other readings.
i.item_key NOT LIKE '%' || :second_suffix AND i.item_key NOT LIKE '%' || :again_suffix
AND i.item_key NOT LIKE :failures_prefix || '%'
