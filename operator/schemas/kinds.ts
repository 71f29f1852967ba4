import { library } from './library.ts';
import { mediaServer } from './media-server.ts';
import type { Kind } from './structural.ts';
import { tunerDevice } from './tuner-device.ts';

/** The three kinds of the group foyer.media, in the order of output. */
export const kinds: readonly Kind[] = [mediaServer, library, tunerDevice];
