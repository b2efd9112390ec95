package evidence

import "strconv"

// SensorRoot names an observation of a sensor: its window of so many seconds, in which all
// readings are one. Observed is in seconds since 1970, window at least 1.
func SensorRoot(name string, observed, window int64) string {
	return "sensor:" + name + windowOf(observed, window)
}

// TopicRoot is SensorRoot for what a device says on an MQTT topic.
func TopicRoot(topic, device string, observed, window int64) string {
	return "mqtt:" + topic + "@" + device + windowOf(observed, window)
}

func windowOf(observed, window int64) string {
	window = max(window, 1)
	begin := observed - ((observed%window)+window)%window
	return "#" + strconv.FormatInt(begin, 10) + "+" + strconv.FormatInt(window, 10)
}
