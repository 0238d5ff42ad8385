// Scripts for all pages. Everything except the form editor works without them.

// A token in a link is after the #, which no server sees: put it into its field and remove it from the address.
function takeFragment() {
  const field = document.querySelector("[data-from-fragment]");
  if (!field || location.hash.length < 2) return;
  const parts = decodeURIComponent(location.hash.slice(1)).split("/");
  field.value = parts.pop();
  const name = document.querySelector("[data-name-from-fragment]");
  if (name && parts.length) name.value = parts[0];
  history.replaceState(null, "", location.pathname);
  (name && !name.value ? name : document.querySelector("#name:not([value]), #password") ?? field).focus();
}

// Where the server does not know its own address, links are relative: complete them, so that they can be copied.
const isLocal = (host) => /^(127\..*|\[::1\]|(.*\.)?localhost)$/.test(host);

// Local links take everyone else to their own computer: show a warning while links would be made with such an address.
function warnOfLocalLinks() {
  const field = document.querySelector("input[data-address]");
  for (const warning of document.querySelectorAll("[data-local-only]")) {
    const look = () => {
      let address = location;
      try {
        if (field?.value) address = new URL(field.value);
      } catch {
        // half typed
      }
      warning.hidden = !isLocal(address.hostname);
      warning.querySelector("[data-local-address]").textContent = address.origin;
    };
    field?.addEventListener("input", look);
    look();
  }
}

function completeLinks() {
  for (const field of document.querySelectorAll("input[data-link]")) {
    if (field.value.startsWith("/")) field.value = location.origin + field.value;
  }
  for (const place of document.querySelectorAll("[data-origin]")) place.textContent = location.origin;
  for (const field of document.querySelectorAll("input[data-address]")) {
    if (!field.value) field.value = location.origin;
  }
}

function offerCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      if (field.select) field.select();
      else getSelection().selectAllChildren(field);
      try {
        await navigator.clipboard.writeText(field.value ?? field.textContent);
      } catch {
        document.execCommand("copy"); // plain http on a local network has no clipboard
      }
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = label), 1500);
    });
  }
}

// Check now and then whether there is a new release. Until there is one, everyone gets the same reply.
function watchReleases() {
  const watched = document.querySelector("[data-release]");
  if (!watched) return;
  const { release, releases } = watched.dataset;
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const reply = await fetch(release, { redirect: "error", headers: { Accept: "application/json" } });
      if (reply.ok && String((await reply.json()).releases) !== releases) location.reload();
    } catch {
      // the server cannot be reached: try again later
    }
  }, 10_000);
}

function offerPrint() {
  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => print());
  }
}

takeFragment();
addEventListener("hashchange", takeFragment); // the link was pasted where the page was open already
completeLinks();
warnOfLocalLinks();
offerCopies();
offerPrint();
watchReleases();
