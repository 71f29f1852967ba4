// The browser's own answers for the measured profile.
import type { Frame, Probe } from './profile.ts';

const source = (): { isTypeSupported(type: string): boolean } | undefined => {
  const all = globalThis as { ManagedMediaSource?: typeof MediaSource; MediaSource?: typeof MediaSource };
  return all.MediaSource ?? all.ManagedMediaSource;
};

async function smooth(type: string, { width, height, bitrate, framerate }: Frame): Promise<boolean> {
  if (!navigator.mediaCapabilities) return true;
  const container = type.startsWith('vp8') ? 'video/webm' : 'video/mp4';
  const video = { contentType: `${container}; codecs="${type}"`, width, height, bitrate, framerate };
  try {
    const info = await navigator.mediaCapabilities.decodingInfo({ type: 'file', video });
    return info.supported && info.smooth;
  } catch {
    return true; // a browser that cannot answer finds out by playing
  }
}

export function browserProbe(): Probe {
  const element = document.createElement('video');
  return {
    file: (type) => element.canPlayType(type) !== '',
    stream: (type) => source()?.isTypeSupported(type) ?? false,
    smooth,
    hdr: matchMedia('(dynamic-range: high)').matches,
    switchesAudio: false,
    version: navigator.userAgent,
  };
}
