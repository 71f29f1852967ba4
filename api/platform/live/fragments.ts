/** The rendition of a channel whose pictures are copied into fragmented MP4, for players that take HEVC in no other way. */
export const FRAGMENTS = 'fragments';

/** Each stored segment of it begins with its init segment, which fills exactly so many bytes. */
export const HEAD_BYTES = 8192;
