const SHOWN = ['jpg', 'jpeg', 'heic', 'heif', 'png', 'webp', 'avif', 'gif', 'tif', 'tiff', 'bmp', 'jxl'];

export const rawExtensions: readonly string[] = ['dng', 'cr2', 'cr3', 'nef', 'arw', 'orf', 'rw2', 'raf', 'pef', 'srw'];

/** Extensions of pictures in libraries of photos; of several files of one photo, the one that stands first is shown. */
export const pictureExtensions: readonly string[] = [...SHOWN, ...rawExtensions];
