// Follows the frames of a film, so that subtitles change with the picture.

/** A frame may arrive after the clock has passed it; a subtitle that is over does not return for it. */
const LATE_S = 0.5;
/** Without frames that come, the clock of the film, which is a little ahead of them. */
const FRAMES_MS = 250;
/** HAVE_CURRENT_DATA of a media element. */
const HAS_PICTURE = 2;

export interface Frames {
  /** Shows the present moment where no frame does. */
  still(): void;
  stop(): void;
}

/** Calls `show` with the second of each shown frame, and after each seek. */
export function followFrames(video: HTMLVideoElement, show: (seconds: number) => void): Frames {
  let isOver = false;
  let frameAt = Number.NEGATIVE_INFINITY;
  let shownAt = Number.NEGATIVE_INFINITY;
  const to = (seconds: number): void => {
    if (seconds > shownAt || seconds < shownAt - LATE_S) shownAt = seconds;
    show(shownAt);
  };
  const frame = (now: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
    if (isOver) return;
    frameAt = now;
    to(mediaTime);
    video.requestVideoFrameCallback(frame);
  };
  const still = (): void => {
    if (video.readyState < HAS_PICTURE) return; // while another stream of the film is loaded, the element is at 0
    if (video.paused || performance.now() - frameAt > FRAMES_MS) to(video.currentTime);
  };
  const seeked = (): void => {
    shownAt = Number.NEGATIVE_INFINITY;
    to(video.currentTime);
  };
  if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(frame);
  video.addEventListener('seeked', seeked);
  video.addEventListener('timeupdate', still);
  still();
  return {
    still,
    stop() {
      isOver = true;
      video.removeEventListener('seeked', seeked);
      video.removeEventListener('timeupdate', still);
    },
  };
}
