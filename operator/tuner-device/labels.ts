/** Label of the objects of one TunerDevice. */
export const TUNER = 'foyer.media/tuner';
/** Label of the objects of a tuner that was added in the app, with its id. They are no parts of a roll-out of the server. */
export const TUNER_ROW = 'foyer.media/tuner-row';
