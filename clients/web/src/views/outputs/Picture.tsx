// A picture that a click enlarges. Lazy: loads with the first one.
import "react-medium-image-zoom/dist/styles.css";
import Zoom from "react-medium-image-zoom";

interface Props {
  source: string;
  alt: string;
  width: number | undefined;
}

export default function Picture({ source, alt, width }: Props) {
  return (
    <Zoom
      onZoomChange={(isZoomed) => isZoomed || letGo()}
      a11yNameButtonZoom="Enlarge the picture"
      a11yNameButtonUnzoom="Make the picture small"
      zoomMargin={24}
    >
      <img className="image" src={source} alt={alt} width={width} />
    </Zoom>
  );
}

/** Closes the dialog at once: until its animation ends the page would get no keys. */
function letGo(): void {
  document.querySelector<HTMLDialogElement>("dialog[data-rmiz-modal][open]")?.close();
}
