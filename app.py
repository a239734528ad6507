"""Start the GleanVID app in a checkout or a Space; once installed, ``gleanvid app`` does it.

The app lives in ``components``, everything about models, compressors and videos in ``gleanvid``.
"""

from components.launch import main

if __name__ == "__main__":
    main()
