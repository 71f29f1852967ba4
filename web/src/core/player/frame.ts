// Keeps the last picture on a canvas while the media element changes its source.

export function holdFrame(video: HTMLVideoElement, canvas: HTMLCanvasElement): boolean {
  if (video.videoWidth === 0 || video.readyState < 2) return false;
  canvas.width = Math.min(video.videoWidth, 1920);
  canvas.height = Math.round((canvas.width * video.videoHeight) / video.videoWidth);
  canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
  return true;
}

/** Calls back with the first picture of the media element from now on. */
export function onNextFrame(video: HTMLVideoElement, shown: () => void): void {
  if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(() => shown());
  else (video as HTMLVideoElement).addEventListener('timeupdate', () => shown(), { once: true });
}
